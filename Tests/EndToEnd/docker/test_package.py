"""The Debian package on a fresh system, as an administrator meets it: installed, upgraded, removed and purged."""

import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from docker import engine, program_image, stand_ins
from docker.engine import REPOSITORY, podman
from docker.machine import SERVICE, SOCKET, SYSTEMD, SYSTEMD_PACKAGES, Machine
from support.waiting import wait_for

pytestmark = pytest.mark.container

OLD, NEW = "1.2.0", "1.3.0"
FEED = "air-quality-feed@demo.service"
STATE = "/var/lib/air-quality-exporter"
SETTINGS = "/etc/default/air-quality-exporter"
MACHINE = "localhost/air-quality-exporter-debian:tested"
PROGRAMS = ["air-quality-exporter", "air-quality-feed"]

# What belongs to the running system, to apt and dpkg themselves, or is made by ca-certificates, which stays.
NOT_COMPARED = ["/proc", "/sys", "/dev", "/run", "/tmp", "/var/tmp", "/var/log", "/var/cache", "/var/lib/apt",
                "/var/lib/dpkg", "/packages", "/etc/ssl", "/etc/ca-certificates*", "/usr/local/share/ca-certificates"]  # fmt: skip


def build(repository: pathlib.Path, version: str, programs: pathlib.Path, output: pathlib.Path) -> pathlib.Path:
    """The package of the programs, built in a copy of the repository."""
    engine.run(repository / "docker/debian/build", version, programs, output,
               cwd=repository, umask=0o077)  # fmt: skip
    (package,) = output.glob(f"air-quality-exporter_{version}_*.deb")
    return package


@pytest.fixture(scope="module")
def packages(programs, tmp_path_factory) -> dict[str, pathlib.Path]:
    """The package in two versions, in one folder."""
    engine.prepare()
    os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
    folder = tmp_path_factory.mktemp("packages")
    return {version: build(REPOSITORY, version, programs.folder, folder) for version in (OLD, NEW)}


def test_lintian_has_nothing_to_say(packages):
    assert engine.run("lintian", "--fail-on", "error,warning", "--tag-display-limit", "0", packages[OLD]) == ""


# What the package of systemd leaves behind, on which ours depends.
LEFT_BY_SYSTEMD = ["/root/.ssh/", "/var/cache/private/", "/var/lib/private/", "/var/lib/systemd/coredump/",
                   "/var/lib/systemd/pstore/", "/var/log/private/"]  # fmt: skip


def test_piuparts_finds_nothing_left(packages):
    """Debian's own check of installation, removal and purge, in a root of its own without a running system."""
    ignored = [word for path in LEFT_BY_SYSTEMD for word in ("--ignore", path)]
    engine.run("piuparts", "--mirror", f"{stand_ins.apt_mirror()} main", "--distribution", "bookworm",
               "--do-not-verify-signatures", "--no-eatmydata", "--log-level", "error", *ignored, packages[OLD])  # fmt: skip


def test_same_programs_give_the_same_bytes_elsewhere(packages, programs, tmp_path):
    copy = tmp_path / "another folder"
    for name in ("docker", "grafana", "Sources"):
        shutil.copytree(REPOSITORY / name, copy / name)
    for file in REPOSITORY.glob("*"):
        if file.is_file():
            shutil.copy(file, copy)
    package = build(copy, OLD, programs.folder, tmp_path / "output")
    assert package.read_bytes() == packages[OLD].read_bytes()


def test_it_depends_on_what_the_image_installs(packages):
    depends = re.split(", *", engine.run("dpkg-deb", "--field", packages[OLD], "Depends"))
    names = {each.split(" ")[0] for each in depends}
    assert names - {"systemd", "libc6", "libgcc-s1"} == set(program_image.runtime_packages())


@pytest.mark.parametrize("program", PROGRAMS)
def test_debug_symbols_are_apart_and_of_this_program(packages, program, tmp_path):
    symbols = packages[OLD].with_name(packages[OLD].name.replace("exporter_", "exporter-dbgsym_"))
    for package in (packages[OLD], symbols):
        engine.run("dpkg-deb", "--extract", package, tmp_path)
    binary = tmp_path / "usr/bin" / program
    identity = re.search("Build ID: ([0-9a-f]+)", engine.run("readelf", "--notes", binary))[1]
    separate = tmp_path / f"usr/lib/debug/.build-id/{identity[:2]}/{identity[2:]}.debug"
    assert ".debug_" not in engine.run("readelf", "--section-headers", "--wide", binary)
    assert ".debug_info" in engine.run("readelf", "--section-headers", "--wide", separate)


class DebianMachine(Machine):
    """With the packages, and with all that they depend on where apt finds it without a network."""

    def __init__(self, folder: pathlib.Path):
        stand_ins.make_base()
        lend = ("--volume", f"{folder}:/packages:ro")
        stand_ins.build(MACHINE, "\n".join([
            f"FROM {stand_ins.DEBIAN}",
            # Documents are wanted here.
            "RUN rm -f /etc/dpkg/dpkg.cfg.d/docker",
            "RUN apt-get update -qq && export DEBIAN_FRONTEND=noninteractive && apt-get install -y -qq"
            f" --no-install-recommends {' '.join(SYSTEMD_PACKAGES)}"
            f" && apt-get install -y -qq --download-only /packages/air-quality-exporter_{OLD}_*.deb",
            *SYSTEMD]), "recipe=debian", *lend)  # fmt: skip
        sources = ("--volume", "/etc/apt:/etc/apt:ro") if stand_ins.WANTED else ()
        super().__init__("air-quality-test-debian", MACHINE, *lend, *sources)

    def apt_get(self, *arguments: str) -> str:
        return self.run("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--yes", *arguments)

    def files(self) -> set[str]:
        pruned = " -o ".join(f"-path '{path}'" for path in NOT_COMPARED)
        return set(self.run("sh", "-c", f"find / '(' {pruned} ')' -prune -o -print").splitlines())

    def points(self) -> list[dict]:
        return json.loads(self.get("/history.json"))["points"]

    def set(self, **settings: str) -> None:
        """Sets in the file of settings, where each has its line already."""
        for name, value in settings.items():
            line = f"AIR_QUALITY_EXPORTER_{name}="
            self.run("grep", "--quiet", f"^#{line}", SETTINGS)
            self.run("sed", "-i", f"s,^#{line}.*,{line}{value},", SETTINGS)


@pytest.fixture(scope="class")
def machine(packages):
    machine = DebianMachine(packages[OLD].parent)
    try:
        machine.before = machine.files()
        yield machine
    finally:
        machine.remove()
        podman("rmi", MACHINE)


@pytest.mark.story
class TestLife:
    """From the installation to the purge."""

    def test_is_installed_and_waits_for_its_settings(self, machine, packages):
        machine.apt_get("install", f"/packages/{packages[OLD].name}")
        assert machine.run("id", "--user", "--name", "air-quality-exporter") == "air-quality-exporter"
        for unit in (SERVICE, SOCKET):
            assert machine.is_active(unit) == "inactive"
            assert machine.systemctl("is-enabled", unit, status=None) == "disabled"
        assert machine.systemctl("list-units", "--failed", "--quiet") == ""
        for program in PROGRAMS:
            assert machine.run(program, "--version").startswith(program + ", version ")

    def test_serves_a_feed_and_is_scraped(self, machine, start, tmp_path):
        machine.set(FEED_URL="ws://127.0.0.1:8765/", HISTORY_INTERVAL="1s")
        machine.write("/etc/default/air-quality-feed-demo",
                      'FEED="simulate --listen 127.0.0.1:8765 --interval 200ms"\n')  # fmt: skip
        machine.systemctl("enable", "--now", SOCKET, SERVICE, FEED)
        prometheus = start.prometheus(tmp_path, f"{machine.address}:10025")
        prometheus.wait_for("count(airquality_index) == 12", 60)
        assert prometheus.query("up")[0]["value"][1] == "1"
        assert machine.run("stat", "--format", "%U %a", STATE) == "air-quality-exporter 700"
        journal = machine.run("journalctl", "--unit", SERVICE, "--no-pager")
        assert not re.search("(?i)level=error", journal), journal

    def test_goes_on_after_an_upgrade_with_its_history(self, machine, packages):
        points = wait_for(lambda: [each for each in machine.points() if each], "points")
        before = [machine.shown("MainPID", unit=unit) for unit in (SERVICE, FEED)]
        upgrade = subprocess.Popen(
            ["podman", "exec", machine.name, "apt-get", "--yes", "install", f"/packages/{packages[NEW].name}"],
            env=engine.environment(), stdout=subprocess.DEVNULL)  # fmt: skip
        while upgrade.poll() is None:
            try:
                machine.get("/metrics")
            except (OSError, http.client.HTTPException) as error:
                # The old process had accepted it and ended before the request was there: closed, not refused.
                assert not isinstance(getattr(error, "reason", error), ConnectionRefusedError)
        assert upgrade.returncode == 0
        assert machine.run("dpkg-query", "--show", "--showformat=${Version}", "air-quality-exporter") == NEW
        for unit, old in zip((SERVICE, FEED), before, strict=True):
            assert machine.is_active(unit) == "active"
            assert machine.shown("MainPID", unit=unit) != old
        # 25 points of each city are kept, and the oldest may have gone since.
        after = machine.points()
        oldest = {city: min(each["time_ms"] for each in after if each["city"] == city)
                  for city in {each["city"] for each in after}}  # fmt: skip
        kept = [each for each in points if each["time_ms"] >= oldest[each["city"]]]
        assert kept and all(each in after for each in kept)

    def test_leaves_readings_and_settings_when_it_is_removed(self, machine):
        machine.apt_get("remove", "air-quality-exporter")
        for unit in (SERVICE, SOCKET, FEED):
            assert machine.is_active(unit) == "inactive"
        for program in PROGRAMS:
            machine.run("test", "!", "-e", f"/usr/bin/{program}")
        for path in (f"{STATE}/readings.sqlite", SETTINGS):
            machine.run("test", "-s", path)

    def test_takes_them_up_again(self, machine, packages):
        machine.apt_get("install", f"/packages/{packages[NEW].name}")
        machine.systemctl("start", SOCKET, SERVICE)
        assert len({each["city"] for each in machine.points()}) == 12

    def test_leaves_nothing_when_it_is_purged(self, machine):
        machine.apt_get("purge", "air-quality-exporter")
        others = set(machine.run("sh", "-c", "cat /var/lib/dpkg/info/*.list").splitlines())
        # /lib is a link to /usr/lib.
        left = {path for path in machine.files() - machine.before if not {path, path.removeprefix("/usr")} & others}
        assert left == set()
        for database in ("passwd", "group"):
            machine.run("getent", database, "air-quality-exporter", status=2)
