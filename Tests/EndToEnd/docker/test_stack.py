"""The demo profile of compose.yaml, unchanged: feed, exporter, Prometheus and Alertmanager.

Grafana is not included: it is in no registry that a sandboxed machine reaches, and its files have
their own checks.
"""

import json
import pathlib
import sys
import urllib.request

import pytest

from docker import engine, program_image
from docker.engine import podman
from docker.test_compose import example
from support.commands import run
from support.programs import free_ports
from support.waiting import wait_for

pytestmark = pytest.mark.container

FOLDER = engine.REPOSITORY / "docker"
SERVICES = ["feed", "exporter-demo", "prometheus", "alertmanager"]
PROJECT = "air-quality-test"
COMPOSE = pathlib.Path(sys.executable).with_name("podman-compose")


def ask(port: int, path: str):
    """The JSON at a published port."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as response:
        return json.load(response)


class Stack:
    def __init__(self):
        assert COMPOSE.exists(), (
            f"no podman-compose beside {sys.executable}: Tests/EndToEnd/requirements.txt"
        )
        self.exporter, self.prometheus, self.alertmanager = free_ports(3)
        self._environment = engine.environment() | {
            "COMPOSE_PROJECT_NAME": PROJECT,
            "COMPOSE_PROFILES": "demo",
            "EXPORTER_PORT": str(self.exporter),
            "PROMETHEUS_PORT": str(self.prometheus),
            "ALERTMANAGER_PORT": str(self.alertmanager),
        }

    def compose(self, *arguments: str) -> None:
        file = FOLDER / "compose.yaml"
        command = [COMPOSE, "--in-pod", "false", "--file", file, *arguments]
        run(*command, cwd=FOLDER, env=self._environment)

    def prometheus_says(self, path: str):
        return ask(self.prometheus, f"/api/v1/{path}")["data"]


@pytest.fixture(scope="module")
def stack():
    image = program_image.build()
    podman("tag", image, f"localhost/air-quality-exporter:{example()['VERSION']}")
    stack = Stack()
    stack.compose("down", "--volumes", "--timeout", "0")
    try:
        stack.compose("up", "--detach", "--no-build", *SERVICES)
        yield stack
    finally:
        stack.compose("down", "--volumes", "--timeout", "10")


def test_the_targets_of_prometheus_are_up(stack):
    def up():
        targets = stack.prometheus_says("targets")["activeTargets"]
        health = {each["labels"]["job"]: each["health"] for each in targets}
        return health == {"air-quality-exporter": "up", "prometheus": "up"} and targets

    assert {each["lastError"] for each in wait_for(up, "both targets up", 120)} == {""}


def test_readings_arrive_in_prometheus(stack):
    count = "query?query=count(airquality_index)"
    found = wait_for(lambda: stack.prometheus_says(count)["result"], "readings", 120)
    assert float(found[0]["value"][1]) > 0


def test_every_rule_is_loaded_and_evaluated(stack):
    def evaluated():
        groups = stack.prometheus_says("rules")["groups"]
        rules = [rule for group in groups for rule in group["rules"]]
        return rules and all(rule["health"] == "ok" for rule in rules) and groups

    groups = wait_for(evaluated, "every rule evaluated without an error", 180)
    files = {pathlib.Path(group["file"]).name for group in groups}
    assert files == {path.name for path in (engine.REPOSITORY / "grafana/rules").glob("*.yaml")}


def test_prometheus_finds_the_alertmanager(stack):
    def active():
        return stack.prometheus_says("alertmanagers")["activeAlertmanagers"]

    assert len(wait_for(active, "an Alertmanager", 120)) == 1
    status = wait_for(lambda: ask(stack.alertmanager, "/api/v2/status"), "its status")
    assert "AirQualityFeedDown" in status["config"]["original"]


def test_the_exporter_is_published_and_serves_its_history(stack):
    def with_points():
        response = ask(stack.exporter, "/history.json")
        return response["points"] and response

    assert wait_for(with_points, "points in the history")["capacity"] == 210


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_runs_unprivileged_and_within_limits(stack, service):
    container = engine.inspect(f"{PROJECT}_{service}_1")
    assert container["State"]["Status"] == "running"
    host = container["HostConfig"]
    assert host["ReadonlyRootfs"]
    assert min(host["Memory"], host["NanoCpus"], host["PidsLimit"]) > 0
    status = pathlib.Path(f"/proc/{container['State']['Pid']}/status").read_text()
    assert "CapEff:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status
    assert "Uid:\t0\t" not in status
