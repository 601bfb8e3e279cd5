"""`make release` of one commit in two folders: identical files with the expected contents."""

import pathlib
import platform
import re
import shutil
import subprocess
import tarfile

import pytest

from docker import base_images, engine
from docker.engine import REPOSITORY

pytestmark = pytest.mark.container

#: The version of the newest section of the changelog, which has notes.
VERSION = re.search(
    r"^## (\d+\.\d+\.\d+)", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE
)[1]
THIS = platform.freedesktop_os_release()["VERSION_ID"]
#: The Debian of this machine, and the newest, in its own root.
DEBIANS = sorted({THIS, "13"})
ROOT = REPOSITORY / "build/debian13"
NAMES = ["one/air-quality-exporter", "two/deeper/Another Copy"]


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """The folders of both releases, whose images share no cached layers."""
    base_images.make_all()
    pull = ["--pull=never", *base_images.mounts()] if base_images.WANTED else ["--pull"]
    # Variables exported by a make that runs these tests concern its own build.
    environment = {
        name: value
        for name, value in engine.environment().items()
        if not name.startswith(("AIRQUALITY_BUILD_", "MAKE", "MFLAGS"))
    }
    # Neither release makes its own root.
    environment["DEBIAN13_ROOT"] = str(ROOT)
    environment["IMAGE_FLAGS"] = " ".join(["--no-cache", *pull])
    folders = []
    for name in NAMES:
        clone = tmp_path_factory.mktemp("release") / name
        # The second is cloned from the first, so commits made meanwhile do not matter.
        engine.run(
            "git", "clone", "--quiet", folders[0].parents[1] if folders else REPOSITORY, clone
        )
        result = subprocess.run(
            ["make", "release", f"VERSION={VERSION}"],
            cwd=clone,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
        assert not re.search("^(no image|nothing for Debian 13): ", result.stderr, re.MULTILINE), (
            result.stderr[-4000:]
        )
        folders.append(clone / "build" / VERSION)
    return folders


def test_releases_from_two_folders_are_identical(releases):
    one, two = ({file.name: file.read_bytes() for file in folder.iterdir()} for folder in releases)
    assert set(one) == set(two)
    assert [name for name in one if one[name] != two[name]] == []


def test_the_checksums_name_every_file(releases):
    lines = engine.run(
        "sha256sum", "--check", "--strict", "SHA256SUMS", cwd=releases[0]
    ).splitlines()
    assert len(lines) == len(list(releases[0].iterdir())) - 1 == 3 + 5 * len(DEBIANS)


def version_of(program: pathlib.Path, debian: str) -> str:
    """The output of `--version`, on the Debian that the program is for."""
    if debian == THIS:
        return engine.run(program, "--version")
    shutil.copy(program, ROOT / "tmp")
    return engine.run(REPOSITORY / "Tests/Tools/debian13", f"/tmp/{program.name}", "--version")


@pytest.mark.parametrize("debian", DEBIANS)
def test_the_tarball_has_the_stripped_programs_of_the_package(releases, debian, tmp_path):
    (package,) = releases[0].glob(f"air-quality-exporter_*~deb{debian}u1_*.deb")
    engine.run("dpkg-deb", "--extract", package, tmp_path / "package")
    (archive,) = releases[0].glob(f"*-debian{debian}-*[0-9a-z]64.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path)
    folder = tmp_path / archive.name.removesuffix(".tar.gz")
    for name in ("air-quality-exporter", "air-quality-feed"):
        assert (folder / name).read_bytes() == (tmp_path / "package/usr/bin" / name).read_bytes()
        said = version_of(folder / name, debian)
        assert said.startswith(f"{name}, version {VERSION} (branch: HEAD, revision: ")
    unit, dashboard = "systemd/air-quality-exporter.service", "grafana/dashboards/air-quality.json"
    for name in ("LICENSE", "NOTICE", unit, dashboard):
        assert (folder / name).stat().st_size > 0


@pytest.mark.parametrize("debian", DEBIANS)
def test_debug_symbols_refer_to_the_source_by_relative_paths(releases, debian, tmp_path):
    """They name no path of the machine on which they were made."""
    (archive,) = releases[0].glob(f"*-debian{debian}-*-debug.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path)
    files = list(tmp_path.glob(".build-id/*/*.debug"))
    assert len(files) == 2
    for file in files:
        names = engine.run("readelf", "--debug-dump=info", file)
        assert "./Sources/" in names or "Sources/Shared/Bytes" in names
        assert not re.search(r"/(tmp|work|home|root)/\S*Sources/", names)


def test_the_image_reports_the_version_of_the_release(releases):
    (archive,) = releases[0].glob("*-image-*.tar.gz")
    loaded = engine.run("sh", "-c", f"zcat '{archive}' | podman load --quiet")
    assert loaded.endswith(f"air-quality-exporter:{VERSION}")
    name = loaded.splitlines()[-1].removeprefix("Loaded image: ")
    answer = engine.podman("run", "--rm", "--network", "none", name, "--version")
    assert answer.startswith(f"air-quality-exporter, version {VERSION} (branch: HEAD, revision: ")


@pytest.mark.parametrize("version", ["", "fe6ec4c0d1a2", "1.2", "1.2.0-3-gfe6ec4c-dirty"])
def test_a_version_that_is_not_that_of_a_tag_is_rejected(version, tmp_path):
    result = subprocess.run(
        [REPOSITORY / "docker/release/build", version, tmp_path, tmp_path / "output"],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1 and "VERSION=1.0.0" in result.stderr
