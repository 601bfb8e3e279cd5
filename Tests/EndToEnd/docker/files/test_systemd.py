"""The units: accepted by systemd-analyze, and exposed to little."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

UNITS = pathlib.Path(__file__).resolve().parents[4] / "docker" / "systemd"
SYSTEM_UNITS = pathlib.Path("/usr/lib/systemd/system")

# Out of 100, as --threshold takes it; `systemd-analyze security` prints a tenth of it. What is left is what an exporter
# needs: the network, local sockets, the host's file tree read-only, and a feed at an address we cannot know.
EXPOSURE = 11


@unittest.skipUnless(shutil.which("systemd-analyze") and SYSTEM_UNITS.is_dir(), "no systemd here")
class Units(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        shutil.copytree(SYSTEM_UNITS, self.root / "usr/lib/systemd/system", symlinks=True)
        shutil.copytree(UNITS, self.root / "etc/systemd/system")
        for program in ("usr/local/bin/air-quality-exporter", "bin/kill"):
            path = self.root / program
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
            path.chmod(0o755)

    def verify(self):
        """What systemd has to say; nothing is good. Its status stays 0 for an unknown key."""
        result = subprocess.run(
            ["systemd-analyze", "verify", f"--root={self.root}", "--man=no", *(path.name for path in UNITS.iterdir())],
            capture_output=True, text=True)
        return result.returncode, result.stdout + result.stderr

    def test_systemd_accepts_them(self):
        self.assertEqual(self.verify(), (0, ""))

    def test_systemd_sees_a_misspelt_key(self):
        unit = self.root / "etc/systemd/system/air-quality-exporter.service"
        unit.write_text(unit.read_text().replace("NoNewPrivileges=", "NoNewPrivilege="))
        self.assertIn("Unknown key", self.verify()[1])

    def test_service_is_exposed_to_little(self):
        result = subprocess.run(
            ["systemd-analyze", "security", "--offline=true", f"--root={self.root}", f"--threshold={EXPOSURE}",
             "--json=short", "--no-pager", "air-quality-exporter.service"],
            capture_output=True, text=True)
        exposed = [each["name"] for each in json.loads(result.stdout or "[]") if each.get("exposure")]
        self.assertEqual(result.returncode, 0, f"{result.stderr} still exposed: {exposed}")
