"""The systemd units, installed as they say, under a systemd that runs in a container."""

import http.client
import json
import subprocess
import urllib.error
import urllib.request

import engine
import program_image
import stand_ins
from engine import podman, wait_until
from sequence import Sequence

UNITS = engine.REPOSITORY / "docker" / "systemd"
MACHINE = "localhost/air-quality-exporter-machine:tested"
CONTAINER = "air-quality-test-systemd"
SERVICE = "air-quality-exporter.service"
SOCKET = "air-quality-exporter.socket"

SETTINGS = """\
AIR_QUALITY_EXPORTER_FEED_DEMO=true
AIR_QUALITY_EXPORTER_HISTORY_INTERVAL=1s
"""

# A watchdog that a test can wait for.
SHORT_WATCHDOG = """\
[Service]
WatchdogSec=2s
"""


class Service(Sequence):
    """From the socket alone to the end."""

    @classmethod
    def setUpClass(cls):
        image = program_image.build()
        stand_ins.build(MACHINE, "\n".join([
            # The files without the image's settings: its volume would lie where systemd puts the state.
            f"FROM {image} AS programs", "FROM scratch", "COPY --from=programs / /",
            "RUN rmdir /var/lib/air-quality-exporter", stand_ins.install(["dbus", "procps", "systemd"]),
            "STOPSIGNAL SIGRTMIN+3", 'CMD ["/lib/systemd/systemd"]', ""]), "recipe=machine")
        cls.addClassCleanup(podman, "rmi", MACHINE)
        cls.addClassCleanup(podman, "rm", "--force", "--ignore", "--time", "0", "--volumes", CONTAINER)
        podman("rm", "--force", "--ignore", "--time", "0", "--volumes", CONTAINER)
        podman("run", "--detach", "--name", CONTAINER, "--systemd=always", "--privileged", MACHINE)
        cls.address = engine.address(CONTAINER)
        for unit in (SERVICE, SOCKET):
            podman("cp", UNITS / unit, f"{CONTAINER}:/etc/systemd/system/{unit}")
        cls.write("/etc/default/air-quality-exporter", SETTINGS)
        cls.write(f"/etc/systemd/system/{SERVICE}.d/watchdog.conf", SHORT_WATCHDOG)
        wait_until(lambda: cls.systemctl("is-system-running", status=None) in ("running", "degraded"), "systemd")
        cls.systemctl("daemon-reload")

    @classmethod
    def write(cls, path, text):
        podman("exec", "--interactive", CONTAINER, "sh", "-c", f"mkdir -p $(dirname {path}) && cat > {path}", input=text)

    @classmethod
    def systemctl(cls, *arguments, **options):
        return podman("exec", CONTAINER, "systemctl", *arguments, **options)

    def shown(self, *properties):
        lines = self.systemctl("show", SERVICE, *(f"--property={name}" for name in properties)).splitlines()
        return dict(line.split("=", 1) for line in lines)

    def get(self, path, timeout=20):
        with urllib.request.urlopen(f"http://{self.address}:10025{path}", timeout=timeout) as response:
            return response.read().decode()

    def test_1_the_first_scrape_starts_the_service(self):
        self.systemctl("start", SOCKET)
        self.assertEqual(self.systemctl("is-active", SERVICE, status=None), "inactive")
        page = self.get("/metrics")
        self.assertIn("airquality_exporter_build_info", page)
        # Needs /proc/stat or a clock, which the unit must leave it.
        self.assertIn("process_start_time_seconds ", page)
        self.assertIn("process_resident_memory_bytes ", page)
        self.assertIn("process_open_fds ", page)

    def test_2_it_said_that_it_is_ready(self):
        wait_until(lambda: self.systemctl("is-active", SERVICE, status=None) == "active", "an active service")
        self.assertEqual(self.shown("Type", "NRestarts"), {"Type": "notify", "NRestarts": "0"})

    def test_3_it_reads_its_feed_and_writes_its_state(self):
        wait_until(lambda: json.loads(self.get("/history.json"))["points"], "points")
        user = wait_until(
            lambda: podman("exec", CONTAINER, "stat", "--format", "%u",
                           "/var/lib/private/air-quality-exporter/readings.sqlite", status=None), "a storage file")
        # systemd.exec(5): DynamicUser takes its numbers from 61184 to 65519.
        self.assertTrue(61184 <= int(user) <= 65519, user)
        journal = podman("exec", CONTAINER, "journalctl", "--unit", SERVICE, "--no-pager")
        self.assertNotRegex(journal, "(?i)level=(error|warn)")

    def test_4_reload_keeps_it_running(self):
        before = self.shown("MainPID")
        self.systemctl("reload", SERVICE)
        self.get("/metrics")
        self.assertEqual(self.shown("MainPID"), before)

    def test_5_no_connection_is_refused_while_it_restarts(self):
        before = self.shown("MainPID")
        restart = subprocess.Popen(["podman", "exec", CONTAINER, "systemctl", "restart", SERVICE],
                                   env=engine.environment())
        scrapes = 0
        while restart.poll() is None:
            try:
                self.get("/metrics")
                scrapes += 1
            except (OSError, http.client.HTTPException) as error:
                # The old process had accepted it and ended before the request was there: closed, not refused.
                self.assertNotIsInstance(getattr(error, "reason", error), ConnectionRefusedError)
        self.assertEqual(restart.returncode, 0)
        self.assertGreater(scrapes, 0)
        self.assertNotEqual(self.shown("MainPID"), before)

    def test_6_the_watchdog_restarts_a_process_that_hangs(self):
        def beat():
            return int(self.shown("WatchdogTimestampMonotonic")["WatchdogTimestampMonotonic"])
        first = beat()
        wait_until(lambda: beat() > first, "a sign of life")
        self.systemctl("kill", "--signal=STOP", SERVICE)
        wait_until(lambda: int(self.shown("NRestarts")["NRestarts"]) > 0, "a restart", within=120)
        self.assertIn("airquality_exporter_build_info", self.get("/metrics"))

    def test_7_it_ends_with_status_0(self):
        self.systemctl("stop", SOCKET, SERVICE)
        self.assertEqual(self.shown("Result", "ExecMainStatus"), {"Result": "success", "ExecMainStatus": "0"})
