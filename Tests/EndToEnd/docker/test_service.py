"""The systemd units, installed as documented, under a systemd that runs in a container."""

import json
import re

import pytest

from docker import base_images, engine, program_image
from docker.engine import podman
from docker.machine import SERVICE, SOCKET, SYSTEMD, SYSTEMD_PACKAGES, Machine
from support.waiting import wait_for

pytestmark = pytest.mark.container

UNITS = engine.REPOSITORY / "docker" / "systemd"
MACHINE = "localhost/air-quality-exporter-machine:tested"

SETTINGS = """\
AIR_QUALITY_EXPORTER_FEED_DEMO=true
AIR_QUALITY_EXPORTER_HISTORY_INTERVAL=1s
"""

# A watchdog that a test can wait for.
SHORT_WATCHDOG = """\
[Service]
WatchdogSec=2s
"""


class ServiceMachine(Machine):
    """A machine with the units installed as the README says."""

    def __init__(self):
        super().__init__("air-quality-test-systemd", MACHINE)
        for unit in (SERVICE, SOCKET):
            podman("cp", UNITS / unit, f"{self.name}:/etc/systemd/system/{unit}")
        users = UNITS / "air-quality-exporter.sysusers"
        podman("cp", users, f"{self.name}:/etc/sysusers.d/air-quality-exporter.conf")
        self.write("/etc/default/air-quality-exporter", SETTINGS)
        self.write(f"/etc/systemd/system/{SERVICE}.d/watchdog.conf", SHORT_WATCHDOG)
        self.run("systemd-sysusers")
        self.systemctl("daemon-reload")


@pytest.fixture(scope="class")
def machine():
    image = program_image.build()
    lines = [
        f"FROM {image} AS programs",
        f"FROM {base_images.debian(base_images.OF_IMAGE)}",
        base_images.install([*program_image.runtime_packages(), *SYSTEMD_PACKAGES]),
        "RUN mkdir -p /etc/sysusers.d",
        "COPY --from=programs /usr/local/bin/ /usr/local/bin/",
        *SYSTEMD,
    ]
    recipe = "recipe=machine"
    base_images.build(MACHINE, "\n".join(lines), recipe, release=base_images.OF_IMAGE)
    machine = ServiceMachine()
    try:
        yield machine
    finally:
        machine.remove()
        podman("rmi", MACHINE)


@pytest.mark.story
class TestService:
    """From the socket alone to the shutdown."""

    def test_the_first_scrape_starts_the_service(self, machine):
        machine.systemctl("start", SOCKET)
        assert machine.is_active() == "inactive"
        page = machine.get("/metrics")
        assert "airquality_exporter_build_info" in page
        # These need /proc/stat or a clock, which the unit must not take away.
        for name in ("start_time_seconds", "resident_memory_bytes", "open_fds"):
            assert f"process_{name} " in page

    def test_the_service_notifies_systemd_of_its_readiness(self, machine):
        wait_for(lambda: machine.is_active() == "active", "an active service")
        assert machine.shown("Type", "NRestarts") == {"Type": "notify", "NRestarts": "0"}

    def test_the_service_reads_its_feed_and_writes_its_state(self, machine):
        wait_for(lambda: json.loads(machine.get("/history.json"))["points"], "points")
        file = "/var/lib/air-quality-exporter/readings.sqlite"
        user = wait_for(
            lambda: machine.run("stat", "--format", "%U", file, status=None), "a storage file"
        )
        assert user == "air-quality-exporter"
        journal = machine.run("journalctl", "--unit", SERVICE, "--no-pager")
        assert not re.search("(?i)level=(error|warn)", journal), journal

    def test_a_reload_keeps_the_process(self, machine):
        before = machine.shown("MainPID")
        machine.systemctl("reload", SERVICE)
        machine.get("/metrics")
        assert machine.shown("MainPID") == before

    def test_no_connection_is_refused_while_the_service_restarts(self, machine):
        before = machine.shown("MainPID")
        assert machine.scrape_during("systemctl", "restart", SERVICE) > 0
        assert machine.shown("MainPID") != before

    def test_the_watchdog_restarts_a_process_that_hangs(self, machine):
        def beat() -> int:
            return int(machine.shown("WatchdogTimestampMonotonic")["WatchdogTimestampMonotonic"])

        first = beat()
        wait_for(lambda: beat() > first, "a sign of life")
        machine.systemctl("kill", "--signal=STOP", SERVICE)
        wait_for(lambda: int(machine.shown("NRestarts")["NRestarts"]) > 0, "a restart", 120, 0.1)
        assert "airquality_exporter_build_info" in machine.get("/metrics")

    def test_the_service_stops_with_status_0(self, machine):
        machine.systemctl("stop", SOCKET, SERVICE)
        ended = machine.shown("Result", "ExecMainStatus")
        assert ended == {"Result": "success", "ExecMainStatus": "0"}
