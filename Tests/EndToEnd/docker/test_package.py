"""The Debian package on a fresh Debian 12 and 13, as an administrator uses it: installed,
upgraded, removed and purged.

Each is built and tested on its own Debian: the one that is not this machine's is a root of
Tests/Tools/debian13.
"""

import filecmp
import json
import os
import pathlib
import platform
import re
import shutil

import pytest

from docker import base_images, engine
from docker.engine import REPOSITORY, podman
from docker.machine import SERVICE, SOCKET, SYSTEMD, SYSTEMD_PACKAGES, Machine
from support.waiting import wait_for

pytestmark = pytest.mark.container

OLD, NEW = "1.2.0", "1.3.0"
FEED = "air-quality-feed@demo.service"
STATE = "/var/lib/air-quality-exporter"
SETTINGS = "/etc/default/air-quality-exporter"
PROGRAMS = ["air-quality-exporter", "air-quality-feed"]

# Paths of the running system, of apt and dpkg themselves, and of ca-certificates, which stays
# installed.
NOT_COMPARED = [
    "/proc", "/sys", "/dev", "/run", "/tmp", "/var/tmp", "/var/log", "/var/cache", "/var/lib/apt",
    "/var/lib/dpkg", "/packages", "/etc/ssl", "/etc/ca-certificates*",
    "/usr/local/share/ca-certificates",
]


THIS = platform.freedesktop_os_release()["VERSION_ID"]


class Release:
    """A Debian, and the programs built on it."""

    def __init__(self, number: str, programs: pathlib.Path):
        self.number, self.name = number, base_images.RELEASES[number]
        self._programs = programs if number == THIS else ".build/release"
        #: Files outside the repository are missing in the root.
        self.folder = REPOSITORY / "build" / f"packages-{number}"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        if number != THIS:
            engine.run(REPOSITORY / "Tests/Tools/debian13", "--network", "make", "deb")

    def run(self, *command, **options) -> str:
        return engine.run(
            *([] if self.number == THIS else [REPOSITORY / "Tests/Tools/debian13"]),
            *command,
            **options,
        )

    def build(self, repository: pathlib.Path, version: str, output: pathlib.Path) -> pathlib.Path:
        """The package of the programs, built in a copy of the repository."""
        programs = REPOSITORY / self._programs
        self.run(repository / "docker/debian/build", version, programs, output, umask=0o077)
        (package,) = output.glob(f"air-quality-exporter_{version}~deb{self.number}u1_*.deb")
        return package

    def linked(self) -> set[str]:
        """The packages that the programs are linked with."""
        files = [REPOSITORY / self._programs / name for name in PROGRAMS]
        return set(self.run(REPOSITORY / "Tests/Gates/packages", "--linked", *files).split())


@pytest.fixture(
    scope="module", params=[number for number in base_images.RELEASES if number in (THIS, "13")]
)
def release(request, programs) -> Release:
    engine.prepare()
    os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
    return Release(request.param, programs.folder)


@pytest.fixture(scope="module")
def packages(release) -> dict[str, pathlib.Path]:
    """The package in two versions, in one folder."""
    return {version: release.build(REPOSITORY, version, release.folder) for version in (OLD, NEW)}


def test_lintian_reports_nothing(release, packages):
    flags = ("--fail-on", "error,warning", "--tag-display-limit", "0")
    assert release.run("lintian", *flags, packages[OLD]) == ""


# Files that the systemd package, on which ours depends, leaves behind: on 13 also the links of its
# tmpfiles.d/debian.conf, and dpkg-preconfigure's folder.
LEFT_BY_OTHERS = [
    "/root/.ssh/", "/var/cache/private/", "/var/lib/private/", "/var/lib/systemd/coredump/",
    "/var/lib/systemd/pstore/", "/var/log/private/", "/etc/default/locale", "/etc/vconsole.conf",
    "/var/cache/debconf/tmp.ci/",
]


def test_piuparts_finds_no_files_left_behind(release, packages):
    """Debian's own check of installation, removal and purge, in a root without a running system."""
    ignored = [word for path in LEFT_BY_OTHERS for word in ("--ignore", path)]
    engine.run(
        "piuparts", "--mirror", f"{base_images.apt_mirror()} main", "--distribution", release.name,
        "--do-not-verify-signatures", "--no-eatmydata", "--log-level", "error", *ignored,
        packages[OLD],
    )


def test_a_package_built_in_another_folder_is_identical(release, packages):
    copy = release.folder / "another folder"
    for name in ("docker", "grafana", "Sources"):
        shutil.copytree(REPOSITORY / name, copy / name)
    for file in REPOSITORY.glob("*"):
        if file.is_file():
            shutil.copy(file, copy)
    package = release.build(copy, OLD, release.folder / "output")
    # pytest would take an hour to show how bytes of this size differ.
    assert filecmp.cmp(package, packages[OLD], shallow=False)


def test_the_package_depends_on_the_packages_of_its_linked_libraries(release, packages):
    depends = re.split(", *", engine.run("dpkg-deb", "--field", packages[OLD], "Depends"))
    names = {each.split(" ")[0] for each in depends}
    assert names - {"systemd", "libc6", "libgcc-s1"} == release.linked()


def test_the_package_names_its_publisher(packages):
    shown = {
        field: engine.run("dpkg-deb", "--field", packages[OLD], field)
        for field in ("Maintainer", "Homepage")
    }
    publisher = (REPOSITORY / "docker/publisher").read_text()
    assert f"EMAIL={shown['Maintainer'].split('<')[1].rstrip('>')}\n" in publisher
    assert f"HOMEPAGE={shown['Homepage']}\n" in publisher


@pytest.mark.parametrize("program", PROGRAMS)
def test_debug_symbols_are_separate_and_have_the_programs_build_id(packages, program, tmp_path):
    symbols = packages[OLD].with_name(packages[OLD].name.replace("exporter_", "exporter-dbgsym_"))
    for package in (packages[OLD], symbols):
        engine.run("dpkg-deb", "--extract", package, tmp_path)
    binary = tmp_path / "usr/bin" / program
    identity = re.search("Build ID: ([0-9a-f]+)", engine.run("readelf", "--notes", binary))[1]
    separate = tmp_path / f"usr/lib/debug/.build-id/{identity[:2]}/{identity[2:]}.debug"
    assert ".debug_" not in engine.run("readelf", "--section-headers", "--wide", binary)
    assert ".debug_info" in engine.run("readelf", "--section-headers", "--wide", separate)


class DebianMachine(Machine):
    """A machine with the packages and their dependencies, which apt finds without a network."""

    def __init__(self, release: Release):
        base_images.make_bases()
        lend = ("--volume", f"{release.folder}:/packages:ro")
        self.image = f"localhost/air-quality-exporter-{release.name}:tested"
        lines = [
            f"FROM {base_images.debian(release.name)}",
            # The documentation is wanted here.
            "RUN rm -f /etc/dpkg/dpkg.cfg.d/docker",
            "RUN apt-get update -qq && export DEBIAN_FRONTEND=noninteractive && apt-get install"
            f" -y -qq --no-install-recommends {' '.join(SYSTEMD_PACKAGES)}"
            " && apt-get install -y -qq --download-only"
            f" /packages/air-quality-exporter_{OLD}~*.deb",
            *SYSTEMD,
        ]
        recipe = ("\n".join(lines), "recipe=debian")
        base_images.build(self.image, *recipe, *lend, release=release.name)
        sources = (
            ("--volume", f"{base_images.apt_settings(release.name)}:/etc/apt:ro")
            if base_images.WANTED
            else ()
        )
        super().__init__(f"air-quality-test-{release.name}", self.image, *lend, *sources)

    def apt_get(self, *arguments: str) -> str:
        return self.run("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--yes", *arguments)

    def files(self) -> set[str]:
        pruned = " -o ".join(f"-path '{path}'" for path in NOT_COMPARED)
        return set(self.run("sh", "-c", f"find / '(' {pruned} ')' -prune -o -print").splitlines())

    def failed(self) -> str:
        """The units that failed."""
        return self.systemctl("list-units", "--failed", "--quiet", "--plain", "--no-legend")

    def points(self) -> list[dict]:
        return json.loads(self.get("/history.json"))["points"]

    def set(self, **settings: str) -> None:
        """Changes settings in their file, which already has a line for each."""
        for name, value in settings.items():
            line = f"AIR_QUALITY_EXPORTER_{name}="
            self.run("grep", "--quiet", f"^#{line}", SETTINGS)
            self.run("sed", "-i", f"s,^#{line}.*,{line}{value},", SETTINGS)


@pytest.fixture(scope="class")
def machine(release, packages):
    machine = DebianMachine(release)
    try:
        machine.before = machine.files()
        # On 13, the unit for kernel modules fails in a container.
        machine.failed_before = machine.failed()
        yield machine
    finally:
        machine.remove()
        podman("rmi", machine.image)


@pytest.mark.story
class TestLife:
    """From the installation to the purge."""

    def test_the_installed_service_is_neither_started_nor_enabled(self, machine, packages):
        machine.apt_get("install", f"/packages/{packages[OLD].name}")
        user = "air-quality-exporter"
        assert machine.run("id", "--user", "--name", user) == user
        for unit in (SERVICE, SOCKET):
            assert machine.is_active(unit) == "inactive"
            assert machine.systemctl("is-enabled", unit, status=None) == "disabled"
        assert machine.failed() == machine.failed_before
        for program in PROGRAMS:
            assert machine.run(program, "--version").startswith(program + ", version ")

    def test_the_service_reads_a_feed_and_is_scraped(self, machine, start, tmp_path):
        machine.set(FEED_URL="ws://127.0.0.1:8765/", HISTORY_INTERVAL="1s")
        machine.write(
            "/etc/default/air-quality-feed-demo",
            'FEED="simulate --listen 127.0.0.1:8765 --interval 200ms"\n',
        )
        machine.systemctl("enable", "--now", SOCKET, SERVICE, FEED)
        prometheus = start.prometheus(tmp_path, f"{machine.address}:10025")
        prometheus.wait_for("count(airquality_index) == 12", 60)
        assert prometheus.query("up")[0]["value"][1] == "1"
        assert machine.run("stat", "--format", "%U %a", STATE) == "air-quality-exporter 700"
        journal = machine.run("journalctl", "--unit", SERVICE, "--no-pager")
        assert not re.search("(?i)level=error", journal), journal

    def test_an_upgrade_keeps_the_history(self, machine, packages):
        points = wait_for(lambda: [each for each in machine.points() if each], "points")
        before = [machine.shown("MainPID", unit=unit) for unit in (SERVICE, FEED)]
        package = f"/packages/{packages[NEW].name}"
        machine.scrape_during("apt-get", "--yes", "install", package)
        query = ("dpkg-query", "--show", "--showformat=${Version}", "air-quality-exporter")
        assert machine.run(*query).startswith(NEW + "~deb")
        for unit, old in zip((SERVICE, FEED), before, strict=True):
            assert machine.is_active(unit) == "active"
            assert machine.shown("MainPID", unit=unit) != old
        # 25 points of each city are kept, so the oldest may be gone by now.
        after = machine.points()
        oldest: dict[str, int] = {}
        for each in after:
            oldest.setdefault(each["city"], each["time_ms"])
        kept = [each for each in points if each["time_ms"] >= oldest[each["city"]]]
        assert kept and all(each in after for each in kept)

    def test_a_removal_keeps_readings_and_settings(self, machine):
        machine.apt_get("remove", "air-quality-exporter")
        for unit in (SERVICE, SOCKET, FEED):
            assert machine.is_active(unit) == "inactive"
        for program in PROGRAMS:
            machine.run("test", "!", "-e", f"/usr/bin/{program}")
        for path in (f"{STATE}/readings.sqlite", SETTINGS):
            machine.run("test", "-s", path)

    def test_a_reinstallation_restores_the_readings(self, machine, packages):
        machine.apt_get("install", f"/packages/{packages[NEW].name}")
        machine.systemctl("start", SOCKET, SERVICE)
        assert len({each["city"] for each in machine.points()}) == 12

    def test_a_purge_keeps_what_an_administrator_put_beside_the_readings(self, machine, packages):
        machine.write(f"{STATE}/mine/notes", "")
        machine.apt_get("purge", "air-quality-exporter")
        assert machine.run("find", STATE, "-type", "f") == f"{STATE}/mine/notes"
        # Who owns the folder.
        machine.run("getent", "passwd", "air-quality-exporter")
        machine.run("rm", "-r", f"{STATE}/mine")
        machine.apt_get("install", f"/packages/{packages[NEW].name}")

    def test_a_purge_leaves_only_the_files_of_the_administrator_and_no_user(self, machine):
        machine.apt_get("purge", "air-quality-exporter")
        others = set(machine.run("sh", "-c", "cat /var/lib/dpkg/info/*.list").splitlines())
        # /lib is a link to /usr/lib.
        left = {
            path
            for path in machine.files() - machine.before
            if not {path, path.removeprefix("/usr")} & others
        }
        assert left == {"/etc/default/air-quality-feed-demo"}
        for database in ("passwd", "group"):
            machine.run("getent", database, "air-quality-exporter", status=2)
