"""Every deployment of real data keeps the seven days that a city's chart can show."""

import re

import pytest
import yaml

from docker.engine import REPOSITORY
from docker.test_helm import objects_of, variables

CAPACITY, INTERVAL = "AIR_QUALITY_EXPORTER_HISTORY_CAPACITY", "AIR_QUALITY_EXPORTER_HISTORY_INTERVAL"


def text(path: str) -> str:
    return (REPOSITORY / path).read_text()


def assigned(lines: str) -> dict[str, str]:
    return dict(re.findall(r"\b([A-Z_]+)=(\S+)", lines))


def as_flags(command: str) -> dict[str, str]:
    found = dict(re.findall(r"--(history\.\w+) (\w+)", command))
    return {CAPACITY: found["history.capacity"], INTERVAL: found["history.interval"]}


def compose() -> dict[str, str]:
    """The settings of .env, and those that the README has beside the profile."""
    (row,) = (line for line in text("docker/README.md").splitlines() if line.startswith("| ") and "`COMPOSE_PROFILES=live`" in line)
    settings = assigned(text("docker/.env")) | assigned(" ".join(re.findall(r"`([^`]+)`", row)))
    exporter = yaml.safe_load(text("docker/compose.yaml"))["services"]["exporter"]["environment"]
    return {name: settings[re.fullmatch(r"\$\{(\w+):-\w+\}", value)[1]] for name, value in exporter.items() if "HISTORY" in name}


def kubernetes() -> dict[str, str]:
    (settings,) = yaml.safe_load(text("docker/kubernetes/live/kustomization.yaml"))["configMapGenerator"]
    return assigned(" ".join(settings["literals"]))


DEPLOYMENTS = {
    "run-live": lambda: as_flags(text("Tests/Tools/run-live")),
    "helm": lambda: variables(objects_of({"feed": {"poll": {"enabled": True}}})),
    "systemd": lambda: assigned(text("docker/systemd/air-quality-feed@.service")),
    "package": lambda: assigned(text("docker/debian/air-quality-exporter.README.Debian")),
    "compose": compose,
    "kubernetes": kubernetes,
    "by hand": lambda: as_flags(text("Sources/Feed/AirQualityFeed/README.md")),
}


@pytest.mark.parametrize("deployment", DEPLOYMENTS)
def test_history_has_seven_days(deployment):
    """At most a point an hour, so that a source with more of them does not push out the older days."""
    settings = DEPLOYMENTS[deployment]()
    minutes = int(re.fullmatch(r"(\d+)m", settings[INTERVAL])[1])
    assert minutes <= 60
    # The first two readings of a city are both kept.
    assert (int(settings[CAPACITY]) - 2) * minutes >= 7 * 24 * 60
