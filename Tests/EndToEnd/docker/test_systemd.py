"""The units: accepted by systemd-analyze, and exposed to little."""

import json
import pathlib
import shutil
import subprocess

import pytest

from docker.engine import REPOSITORY

UNITS = REPOSITORY / "docker" / "systemd"
SYSTEM_UNITS = pathlib.Path("/usr/lib/systemd/system")

# Out of 100, as --threshold takes it; `systemd-analyze security` prints a tenth of it. What is left is what an exporter
# needs: the network, local sockets, the host's file tree read-only, and a feed at an address we cannot know.
EXPOSURE = 11

pytestmark = pytest.mark.skipif(
    not shutil.which("systemd-analyze") or not SYSTEM_UNITS.is_dir(), reason="no systemd here"
)


@pytest.fixture
def root(tmp_path) -> pathlib.Path:
    """A file system with the units, and empty files for what they start."""
    shutil.copytree(SYSTEM_UNITS, tmp_path / "usr/lib/systemd/system", symlinks=True)
    shutil.copytree(UNITS, tmp_path / "etc/systemd/system")
    for program in ("usr/local/bin/air-quality-exporter", "usr/local/bin/air-quality-feed", "bin/kill"):
        path = tmp_path / program
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
        path.chmod(0o755)
    return tmp_path


def verify(root: pathlib.Path) -> tuple[int, str]:
    """What systemd has to say; nothing is good. Its status stays 0 for an unknown key."""
    names = (path.name for path in UNITS.iterdir())
    command = ["systemd-analyze", "verify", f"--root={root}", "--man=no", *names]
    result = subprocess.run(command, capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def test_systemd_accepts_them(root):
    assert verify(root) == (0, "")


def test_systemd_sees_a_misspelt_key(root):
    unit = root / "etc/systemd/system/air-quality-exporter.service"
    unit.write_text(unit.read_text().replace("NoNewPrivileges=", "NoNewPrivilege="))
    assert "Unknown key" in verify(root)[1]


@pytest.mark.parametrize("service", ["air-quality-exporter.service", "air-quality-feed.service"])
def test_service_is_exposed_to_little(root, service):
    command = ["systemd-analyze", "security", "--offline=true", f"--root={root}", f"--threshold={EXPOSURE}",
               "--json=short", "--no-pager", service]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True)
    exposed = [each["name"] for each in json.loads(result.stdout or "[]") if each.get("exposure")]
    assert result.returncode == 0, f"{result.stderr} still exposed: {exposed}"


def test_the_bridge_s_command_is_the_program_s(programs, root):
    """With and without flags in its settings. It is asked for its version in place of a start."""
    unit = (root / "etc/systemd/system/air-quality-feed.service").read_text()
    (line,) = [line for line in unit.splitlines() if line.startswith("ExecStart=")]
    program, *words = line.removeprefix("ExecStart=").split()
    assert words[-1] == "$POLL_FLAGS"
    for flags in ([], ["--source=openaq", "--set=capitals"]):
        taken = programs.run(pathlib.Path(program).name, *words[:-1], *flags, "--version")
        assert taken.process.returncode == 0, taken.errors
