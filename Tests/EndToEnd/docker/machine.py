"""A container in which systemd runs, as on a machine."""

import http.client
import subprocess
import urllib.request

from docker import engine
from docker.engine import podman
from support.waiting import wait_for

SERVICE = "air-quality-exporter.service"
SOCKET = "air-quality-exporter.socket"

# The last lines of an image for it.
SYSTEMD = ["STOPSIGNAL SIGRTMIN+3", 'CMD ["/lib/systemd/systemd"]', ""]
SYSTEMD_PACKAGES = ["dbus", "procps", "systemd"]


class Machine:
    def __init__(self, name: str, image: str, *flags: str):
        self.name = name
        self.remove()
        podman("run", "--detach", "--name", name, "--systemd=always", "--privileged", *flags, image)
        self.address = engine.address(name)
        wait_for(
            lambda: self.systemctl("is-system-running", status=None) in ("running", "degraded"),
            "systemd",
        )

    def remove(self) -> None:
        podman("rm", "--force", "--ignore", "--time", "0", "--volumes", self.name)

    def run(self, *command: str, **options) -> str:
        return podman("exec", "--interactive", self.name, *command, **options)

    def write(self, path: str, text: str) -> None:
        self.run("sh", "-c", f"mkdir -p $(dirname {path}) && cat > {path}", input=text)

    def systemctl(self, *arguments: str, **options) -> str:
        return self.run("systemctl", *arguments, **options)

    def is_active(self, unit: str = SERVICE) -> str:
        return self.systemctl("is-active", unit, status=None)

    def shown(self, *properties: str, unit: str = SERVICE) -> dict[str, str]:
        lines = self.systemctl(
            "show", unit, *(f"--property={name}" for name in properties)
        ).splitlines()
        return dict(line.split("=", 1) for line in lines)

    def get(self, path: str) -> str:
        with urllib.request.urlopen(f"http://{self.address}:10025{path}", timeout=20) as response:
            return response.read().decode()

    def scrape_during(self, *command: str) -> int:
        """Runs a command in the container, scrapes meanwhile, and counts the scrapes. No connection
        may be refused."""
        running = subprocess.Popen(
            ["podman", "exec", self.name, *command],
            env=engine.environment(), stdout=subprocess.DEVNULL,
        )
        scrapes = 0
        while running.poll() is None:
            try:
                self.get("/metrics")
                scrapes += 1
            except (OSError, http.client.HTTPException) as error:
                # The old process had accepted the connection and ended before the request came:
                # closed, not refused.
                assert not isinstance(getattr(error, "reason", error), ConnectionRefusedError)
        assert running.returncode == 0
        return scrapes
