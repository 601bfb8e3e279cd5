"""A container of the image and its feed on their own network, from start to end."""

import json
import urllib.request

import pytest

from docker import engine, program_image
from docker.engine import podman
from docker.test_image import HARDENED, STATE
from support import metrics
from support.exposition import Exposition
from support.waiting import wait_for

pytestmark = pytest.mark.container


class Life:
    """An exporter and its feed on their own network."""

    NETWORK, VOLUME, FEED, EXPORTER = (
        f"air-quality-test-{name}" for name in ("network", "volume", "feed", "exporter")
    )

    def __init__(self, image: str):
        self.image = image
        self.remove()
        podman("network", "create", self.NETWORK)
        podman("volume", "create", self.VOLUME)
        self.start_exporter()

    def start_exporter(self) -> None:
        podman(
            "run", "--detach", "--name", self.EXPORTER, "--network", self.NETWORK, *HARDENED,
            "--volume", f"{self.VOLUME}:{STATE}",
            "--env", f"AIR_QUALITY_EXPORTER_FEED_URL=ws://{self.FEED}:8765/",
            "--env", "AIR_QUALITY_EXPORTER_FEED_RECONNECT_MAX=1s",
            "--env", "AIR_QUALITY_EXPORTER_HISTORY_INTERVAL=1s", self.image,
        )
        self.address = engine.address(self.EXPORTER, self.NETWORK)

    def start_feed(self) -> None:
        podman(
            "run", "--detach", "--name", self.FEED, "--network", self.NETWORK, *HARDENED,
            "--entrypoint", "air-quality-feed", self.image, "simulate", "--listen", "0.0.0.0:8765",
            "--cities", "12", "--interval", "500ms",
        )

    def remove(self) -> None:
        podman("rm", "--force", "--ignore", "--time", "0", "--volumes", self.EXPORTER, self.FEED)
        podman("volume", "rm", "--force", self.VOLUME, status=None)
        podman("network", "rm", "--force", self.NETWORK, status=None)

    def get(self, path: str) -> str:
        with urllib.request.urlopen(f"http://{self.address}:10025{path}", timeout=10) as response:
            return response.read().decode()

    def page(self) -> Exposition:
        return Exposition(self.get("/metrics"))

    def points(self) -> list[dict]:
        return json.loads(self.get("/history.json"))["points"]

    def is_healthy(self) -> bool:
        """Runs the image's health check, as a timer would."""
        podman("healthcheck", "run", self.EXPORTER, status=None)
        state = engine.inspect(self.EXPORTER)["State"]
        return (state.get("Health") or state["Healthcheck"])["Status"] == "healthy"

    def ready(self) -> str:
        """The output of the check for which compose waits; empty if it fails."""
        check = ("air-quality-exporter", "healthcheck", "--ready")
        return podman("exec", self.EXPORTER, *check, status=None)


@pytest.fixture(scope="class")
def life():
    life = Life(program_image.build())
    yield life
    life.remove()


@pytest.mark.story
class TestLife:
    """From start to end."""

    def test_the_exporter_is_healthy_before_the_feed_starts(self, life):
        wait_for(lambda: life.get("/metrics"), "a page of metrics")
        assert set(life.page().by(metrics.CONNECTED, "feed").values()) == {0}
        assert life.is_healthy(), "a supervisor would replace the container because of its feed"
        assert not life.ready(), "without a feed it cannot be ready"

    def test_the_exporter_becomes_ready_with_the_feed(self, life):
        life.start_feed()
        assert wait_for(life.ready, "a ready exporter", 180, 0.1) == "ready"
        assert life.is_healthy()
        wait_for(lambda: len(life.page().samples(metrics.INDEX)) == 12, "all cities")
        assert all(0 <= value <= 9999 for value in life.page().by(metrics.INDEX, "city").values())

    def test_the_exporter_ends_with_status_0_and_keeps_its_readings(self, life):
        points = life.points()
        assert len(points) >= 12
        podman("kill", "--signal", "TERM", life.EXPORTER)
        assert podman("wait", life.EXPORTER) == "0"
        podman("rm", life.EXPORTER)
        life.start_exporter()
        wait_for(lambda: life.get("/history.json"), "a history")
        # Newer points may have arrived before the end.
        assert life.points()[: len(points)] == points

    def test_the_volume_can_be_backed_up_and_restored(self, life, tmp_path):
        """The two commands of the README, with podman's names."""
        points = life.points()
        podman("stop", "--time", "30", life.EXPORTER)
        assert engine.inspect(life.EXPORTER)["State"]["ExitCode"] == 0
        archive = tmp_path / "readings.tar"
        engine.run("sh", "-c", f"podman cp {life.EXPORTER}:{STATE}/. - > {archive}")
        podman("rm", life.EXPORTER)
        podman("volume", "rm", life.VOLUME)
        podman("volume", "create", life.VOLUME)
        life.start_exporter()
        podman("stop", "--time", "30", life.EXPORTER)
        engine.run("sh", "-c", f"podman cp - {life.EXPORTER}:{STATE} < {archive}")
        podman("start", life.EXPORTER)
        life.address = engine.address(life.EXPORTER, life.NETWORK)
        wait_for(lambda: life.get("/history.json"), "a history")
        # Newer points may have arrived before the end.
        assert life.points()[: len(points)] == points
