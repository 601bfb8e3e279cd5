"""The units: accepted by systemd-analyze, with little exposure."""

import json
import pathlib
import re
import shlex
import shutil
import subprocess

import pytest

from docker.engine import REPOSITORY

UNITS = REPOSITORY / "docker" / "systemd"
SYSTEM_UNITS = pathlib.Path("/usr/lib/systemd/system")

# Out of 100, as for --threshold; `systemd-analyze security` prints a tenth of it. The rest is what
# an exporter needs: the network, local sockets, the host's file tree read-only, and a feed at an
# unknown address.
EXPOSURE = 11

pytestmark = pytest.mark.skipif(
    not shutil.which("systemd-analyze") or not SYSTEM_UNITS.is_dir(), reason="no systemd here"
)


@pytest.fixture
def root(tmp_path) -> pathlib.Path:
    """A file system with the units, and empty files for the programs that they start."""
    shutil.copytree(SYSTEM_UNITS, tmp_path / "usr/lib/systemd/system", symlinks=True)
    shutil.copytree(UNITS, tmp_path / "etc/systemd/system")
    programs = (f"usr/local/bin/air-quality-{name}" for name in ("exporter", "feed"))
    for program in ("bin/kill", *programs):
        path = tmp_path / program
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o755)
    return tmp_path


def verify(root: pathlib.Path) -> tuple[int, str]:
    """The status and complaints of systemd. Its status stays 0 for an unknown key."""
    names = (
        path.name.replace("@.", "@india.")
        for path in UNITS.iterdir()
        if path.suffix in (".service", ".socket")
    )
    command = ["systemd-analyze", "verify", f"--root={root}", "--man=no", *names]
    result = subprocess.run(command, capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def test_systemd_accepts_the_units(root):
    assert verify(root) == (0, "")


@pytest.mark.parametrize(
    "service", ["air-quality-exporter.service", "air-quality-feed@india.service"]
)
def test_the_exposure_of_a_service_is_below_the_threshold(root, service):
    command = [
        "systemd-analyze", "security", "--offline=true", f"--root={root}",
        f"--threshold={EXPOSURE}", "--json=short", "--no-pager", service,
    ]
    result = subprocess.run(command, capture_output=True, text=True)
    exposed = [each["name"] for each in json.loads(result.stdout or "[]") if each.get("exposure")]
    assert result.returncode == 0, f"{result.stderr} still exposed: {exposed}"


def settings(unit: str) -> dict[str, list[str]]:
    """The values of each key of a unit."""
    found: dict[str, list[str]] = {}
    for line in (UNITS / unit).read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            found.setdefault(key, []).append(value)
    return found


@pytest.mark.parametrize("unit", ["air-quality-exporter.service", "air-quality-feed@.service"])
def test_a_service_is_restarted_for_ever_and_has_room_for_its_threads(unit):
    """By default systemd gives up after five failures within ten seconds."""
    found = settings(unit)
    assert found["StartLimitIntervalSec"] == ["0"]
    assert (found["Restart"], found["RestartSec"]) == (["always"], ["5s"])
    # The program admits 512 connections, with a thread each, and 8 files for each feed.
    feeds = int(found["LimitNOFILE"][0]) // 8 if "exporter" in unit else 1
    assert int(found["TasksMax"][0]) >= 512 + 3 * feeds


def test_the_program_accepts_the_command_of_the_unit_of_the_feed(programs):
    """Its own flags, and those that the unit suggests, with `--version` instead of a start."""
    unit = settings("air-quality-feed@.service")
    program, flags = unit["ExecStart"][0].split()
    assert flags == "$FEED"
    own = unit["Environment"][0].strip('"').removeprefix("FEED=")
    suggested = re.findall(r'FEED="(.+?)"', (UNITS / "air-quality-feed@.service").read_text())
    assert len(suggested) == 1
    for words in (own, *suggested):
        taken = programs.run(pathlib.Path(program).name, *words.split(), "--version")
        assert taken.process.returncode == 0, taken.errors


def test_sysusers_creates_the_user_of_the_service():
    service = settings("air-quality-exporter.service")
    kind, user, number, name, home = shlex.split(
        (UNITS / "air-quality-exporter.sysusers").read_text()
    )
    assert (kind, number, home) == ("u", "-", "/var/lib/" + service["StateDirectory"][0])
    assert service["User"] == [user]
