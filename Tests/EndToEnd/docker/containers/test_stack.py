"""compose.yaml as it is: feed, exporter, Prometheus and Alertmanager together, on stand-ins for their images.

Grafana is not among them: it is in no registry that a sandboxed machine reaches, and its files have their own checks.
"""

import json
import os
import socket
import subprocess
import sys
import pathlib
import unittest
import urllib.error
import urllib.request

import engine
import program_image
from engine import podman, wait_until

FOLDER = engine.REPOSITORY / "docker"
SERVICES = ["feed", "exporter", "prometheus", "alertmanager"]
PROJECT = "air-quality-test"
COMPOSE = pathlib.Path(sys.executable).with_name("podman-compose")


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Stack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not COMPOSE.exists():
            raise SystemExit(f"no podman-compose beside {sys.executable}: requirements.txt")
        image = program_image.build()
        tag = next(line.split("=")[1] for line in (FOLDER / ".env").read_text().splitlines()
                   if line.startswith("VERSION="))
        podman("tag", image, f"localhost/air-quality-exporter:{tag}")
        cls.exporter, cls.prometheus, cls.alertmanager = free_ports(3)
        cls.environment = engine.environment() | {
            "COMPOSE_PROJECT_NAME": PROJECT, "COMPOSE_PROFILES": "demo,alerting",
            "EXPORTER_PORT": str(cls.exporter), "PROMETHEUS_PORT": str(cls.prometheus),
            "ALERTMANAGER_PORT": str(cls.alertmanager),
        }
        cls.addClassCleanup(cls.compose, "down", "--volumes", "--timeout", "10")
        cls.compose("down", "--volumes", "--timeout", "0")
        cls.compose("up", "--detach", "--no-build", *SERVICES)

    @classmethod
    def compose(cls, *arguments):
        command = [COMPOSE, "--in-pod", "false", "--file", FOLDER / "compose.yaml", *arguments]
        result = subprocess.run(command, cwd=FOLDER, env=cls.environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if result.returncode != 0:
            raise engine.Failed(f"podman-compose {' '.join(arguments)}: {result.stdout[-4000:]}")

    def ask(self, port, path):
        """The JSON at a published port; nothing while nobody answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as response:
                return json.load(response)
        except (OSError, urllib.error.HTTPError):
            return None

    def prometheus_says(self, path):
        answer = self.ask(self.prometheus, f"/api/v1/{path}")
        return answer and answer["data"]

    def test_targets_are_up(self):
        def up():
            targets = (self.prometheus_says("targets") or {}).get("activeTargets", [])
            return {each["labels"]["job"]: each["health"] for each in targets} == {
                "air-quality-exporter": "up", "prometheus": "up"} and targets
        for target in wait_until(up, "both targets up", within=120):
            self.assertEqual(target["lastError"], "")

    def test_readings_arrive_in_prometheus(self):
        found = wait_until(lambda: (self.prometheus_says("query?query=count(airquality_index)") or {}).get("result"),
                           "readings", within=120)
        self.assertGreater(float(found[0]["value"][1]), 0)

    def test_rules_are_loaded_and_evaluate(self):
        def evaluated():
            groups = (self.prometheus_says("rules") or {}).get("groups", [])
            rules = [rule for group in groups for rule in group["rules"]]
            return rules and all(rule["health"] == "ok" for rule in rules) and groups
        groups = wait_until(evaluated, "every rule evaluated without an error", within=180)
        files = {pathlib.Path(group["file"]).name for group in groups}
        self.assertEqual(files, {path.name for path in (engine.REPOSITORY / "grafana/rules").glob("*.yaml")})

    def test_prometheus_finds_the_alertmanager(self):
        found = wait_until(lambda: (self.prometheus_says("alertmanagers") or {}).get("activeAlertmanagers"),
                           "an Alertmanager", within=120)
        self.assertEqual(len(found), 1)
        status = wait_until(lambda: self.ask(self.alertmanager, "/api/v2/status"), "the Alertmanager's status")
        self.assertIn("AirQualityExporterDown", status["config"]["original"])

    def test_exporter_is_published_and_serves_its_history(self):
        history = wait_until(lambda: (answer := self.ask(self.exporter, "/history.json")) and answer["points"] and answer,
                             "points in the history")
        self.assertEqual(history["capacity"], 25)

    def test_every_service_runs_with_the_rights_of_the_file(self):
        for service in SERVICES:
            with self.subTest(service):
                container = engine.inspect(f"{PROJECT}_{service}_1")
                self.assertEqual(container["State"]["Status"], "running")
                host = container["HostConfig"]
                self.assertTrue(host["ReadonlyRootfs"])
                self.assertGreater(host["Memory"], 0)
                self.assertGreater(host["NanoCpus"], 0)
                self.assertGreater(host["PidsLimit"], 0)
                status = pathlib.Path(f"/proc/{container['State']['Pid']}/status").read_text()
                self.assertIn("CapEff:\t0000000000000000", status)
                self.assertIn("NoNewPrivs:\t1", status)
                self.assertNotIn("Uid:\t0\t", status)
