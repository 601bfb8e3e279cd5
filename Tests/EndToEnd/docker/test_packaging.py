"""The tools that make the Debian package and a release, as far as they can be tested without making
them."""

import collections
import functools
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile

import pytest
import yaml
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

from docker.engine import REPOSITORY
from docker.rendered import packaged
from support.commands import run

FOLDER = REPOSITORY / "docker"
AT_A_TIME = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
PROGRAMS = ("air-quality-exporter", "air-quality-feed")


# MARK: /etc/default/air-quality-exporter


def help_of(programs) -> str:
    return "\n".join(programs.run("air-quality-exporter", "--help").output)


@pytest.fixture(scope="module")
def settings(programs) -> str:
    return run(FOLDER / "debian/default-file", input=help_of(programs))


def test_every_flag_is_a_commented_setting_in_the_default_file(programs, settings):
    flags = re.findall(r"^  --([a-z.-]+)", help_of(programs), re.MULTILINE)
    assert len(flags) > 30
    others = {"help", "version", "config.check", "web.listen-address"}
    wanted = {*flags} - others - {"web.systemd-socket"}
    named = re.findall(r"^#AIR_QUALITY_EXPORTER_([A-Z_]+)=", settings, re.MULTILINE)
    assert sorted(named) == sorted(re.sub("[.-]", "_", flag).upper() for flag in wanted)
    assert not re.search("^[^#\n]", settings, re.MULTILINE), "nothing is set until somebody sets it"


def test_the_settings_shown_in_the_default_file_are_valid_together(programs, settings, tmp_path):
    """The exporter accepts all of them at once, with a feed."""
    shown = dict(re.findall(r"^#(AIR_QUALITY_EXPORTER_[A-Z_]+)=(.+)$", settings, re.MULTILINE))
    assert len(shown) > 20
    # The package creates the folder of the storage, which --config.check examines.
    environment = {
        name: value.replace("/var/lib/air-quality-exporter", str(tmp_path))
        for name, value in shown.items()
    } | {"AIR_QUALITY_EXPORTER_FEED_URL": "ws://127.0.0.1:1/"}
    checked = programs.run("air-quality-exporter", "--config.check", environment=environment)
    assert checked.output == ["configuration is valid"], checked.errors


def test_input_that_is_not_the_help_text_is_rejected():
    refused = subprocess.run(
        [FOLDER / "debian/default-file"], input="usage:\n", capture_output=True, text=True
    )
    assert refused.returncode != 0 and "--feed.url" in refused.stderr


# MARK: Versions


@functools.cmp_to_key
def debian_order(one: str, other: str) -> int:
    def compares(relation: str) -> bool:
        return subprocess.run(["dpkg", "--compare-versions", one, relation, other]).returncode == 0

    return -1 if compares("lt") else int(compares("gt"))


def test_debian_sorts_versions_in_the_order_of_their_commits():
    """From before the first tag to after the second."""
    described = [
        "fe6ec4c0d1a2", "1.2.0-rc.1", "1.2.0-rc.1-3-gfe6ec4c0d1a2", "1.2.0-rc.2", "1.2.0",
        "1.2.0-5-gfe6ec4c0d1a2", "1.2.0-5-gfe6ec4c0d1a2-dirty", "1.2.0-12-gfe6ec4c0d1a2", "1.2.1",
    ]
    command = FOLDER / "debian/version"
    versions = [run(command, each, env=AT_A_TIME).strip() for each in described]
    assert versions[0] == "0~git20231114221320.fe6ec4c0d1a2"
    assert len(set(versions)) == len(versions)
    # The build appends the distribution.
    packages = [f"{version}~deb12u1" for version in versions]
    assert sorted(packages, key=debian_order) == packages


# MARK: The notes of a release


def changelog() -> str:
    return (REPOSITORY / "CHANGELOG.md").read_text()


def test_the_release_notes_are_the_section_of_the_version_in_the_changelog():
    newest = re.search(r"^## (\d+\.\d+\.\d+)", changelog(), re.MULTILINE)[1]
    notes = run(FOLDER / "release/notes", newest)
    assert notes.strip() in changelog()
    assert "\n## " not in notes and not notes.startswith("## ")
    assert run(FOLDER / "release/notes", f"{newest}-rc.1") == notes
    command = [FOLDER / "release/notes", "9.9.9"]
    rejected = subprocess.run(command, capture_output=True, text=True)
    assert rejected.returncode == 1
    assert rejected.stderr.startswith('CHANGELOG.md has no section "## 9.9.9"')


# MARK: The publisher


def test_a_publisher_edits_one_file():
    """Of the placeholders, which are names below air-quality-exporter.example."""
    files = run("git", "grep", "--name-only", r"air-quality-exporter\.example", cwd=REPOSITORY)
    own = "Tests/EndToEnd/docker/test_packaging.py"
    assert set(files.split()) - {own} == {"docker/publisher"}
    assert "`docker/publisher`" in (REPOSITORY / "CONTRIBUTING.md").read_text()


def test_the_chart_names_its_publisher():
    with tarfile.open(packaged()) as tar:
        chart = yaml.safe_load(tar.extractfile("air-quality-exporter/Chart.yaml"))
    found = publisher()
    assert chart["home"] == found["HOMEPAGE"]
    assert chart["sources"] == [found["REPOSITORY"]]
    assert chart["maintainers"] == [{"name": found["NAME"], "email": found["EMAIL"]}]


def test_the_source_of_the_debian_package_names_its_publisher_and_policy(programs, tmp_path):
    """As given to dpkg-buildpackage, in whose place a script keeps the file."""
    builder = tmp_path / "dpkg-buildpackage"
    builder.write_text("#!/bin/sh\ncp debian/control ../control.deb\n")
    builder.chmod(0o755)
    environment = AT_A_TIME | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    run(FOLDER / "debian/build", "1.2.0", programs.folder, tmp_path, env=environment)
    source = (tmp_path / "control.deb").read_text().split("\n\n")[0]
    fields = dict(line.split(": ", 1) for line in source.splitlines())
    found = publisher()
    assert fields["Maintainer"] == f"{found['NAME']} <{found['EMAIL']}>"
    assert fields["Homepage"] == found["HOMEPAGE"]
    assert fields["Vcs-Git"] == fields["Vcs-Browser"] == found["REPOSITORY"]
    assert re.fullmatch(r"4\.\d+\.\d+", fields["Standards-Version"])


def publisher() -> dict[str, str]:
    words = shlex.split((FOLDER / "publisher").read_text(), comments=True)
    return dict(word.split("=", 1) for word in words)


# MARK: The bill of materials


@pytest.fixture(scope="module")
def materials(programs, tmp_path_factory):
    """The bill of materials as a file."""
    file = tmp_path_factory.mktemp("sbom") / "programs.spdx.json"
    files = [programs.folder / name for name in reversed(PROGRAMS)]
    file.write_text(run(FOLDER / "release/sbom", "1.2.0", *files, env=AT_A_TIME))
    return file


def test_the_bill_of_materials_is_valid(materials):
    assert validate_full_spdx_document(parse_file(str(materials))) == []


def test_the_bill_of_materials_lists_every_linked_package(materials, programs):
    document = json.loads(materials.read_text())
    names = {package["SPDXID"]: package["name"] for package in document["packages"]}
    linked = collections.defaultdict(set)
    for each in document["relationships"]:
        linked[each["relationshipType"]].add(names.get(each["relatedSpdxElement"]))
    assert linked["STATIC_LINK"] == {"swift"}
    files = [programs.folder / name for name in PROGRAMS]
    wanted = run(REPOSITORY / "Tests/Gates/packages", "--linked", *files).split()
    assert linked["DYNAMIC_LINK"] - {"libc6", "libgcc-s1"} == set(wanted)
    # Their own dependencies.
    others = {name.removesuffix("t64") for name in linked["DEPENDS_ON"]}
    assert {"libnghttp2-14", "libnettle8"} <= others
    for package in document["packages"]:
        assert "versionInfo" in package and package["externalRefs"]
    (ours,) = (each for each in document["packages"] if each["name"] == "air-quality-exporter")
    supplier = f"Organization: {publisher()['NAME']} ({publisher()['EMAIL']})"
    assert ours["supplier"] == supplier


def test_the_bill_of_materials_is_reproducible(materials, programs):
    command = [sys.executable, FOLDER / "release/sbom", "1.2.0"]
    files = [programs.folder / name for name in PROGRAMS]
    assert run(*command, *files, env=AT_A_TIME) == materials.read_text()
