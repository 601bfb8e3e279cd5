"""compose.yaml, .env and the configuration of Prometheus: accepted by the real tools, and true to the files they name."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse

import yaml

REPOSITORY = pathlib.Path(__file__).resolve().parents[4]
FOLDER = REPOSITORY / "docker"
COMPOSE = (FOLDER / "compose.yaml").read_text()
VARIABLES = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def settings():
    """What .env says, by name."""
    lines = (FOLDER / ".env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def composed():
    """compose.yaml with the values of .env."""
    values = settings()
    return yaml.safe_load(VARIABLES.sub(lambda match: values[match[1]], COMPOSE))


def compose_command():
    """Compose v2 where there is one, else Debian's docker-compose (v1, the older syntax)."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]):
            if subprocess.run([*command, "version"], capture_output=True).returncode == 0:
                return command
    return None


class ComposeFile(unittest.TestCase):
    def test_compose_accepts_it(self):
        command = compose_command()
        if not command:
            self.skipTest("no docker compose here: apt-get install docker-compose")
        good = subprocess.run([*command, "config"], cwd=FOLDER, capture_output=True, text=True)
        self.assertEqual(good.returncode, 0, good.stderr)
        self.assertEqual(set(yaml.safe_load(good.stdout)["services"]) - {"feed", "alertmanager"},
                         {"exporter", "prometheus", "grafana"})
        with tempfile.TemporaryDirectory() as folder:
            bad = pathlib.Path(folder, "compose.yaml")
            bad.write_text(COMPOSE.replace("restart:", "restrat:"))
            refused = subprocess.run([*command, "--file", bad, "config"], cwd=FOLDER, capture_output=True, text=True)
            self.assertNotEqual(refused.returncode, 0, "a misspelt key must be refused, else the check proves nothing")

    def test_variables_are_those_of_the_settings_file(self):
        used = {match[1] for match in VARIABLES.finditer(COMPOSE)}
        read_by_compose = {"COMPOSE_PROFILES", "COMPOSE_PROJECT_NAME"}
        self.assertEqual(used | read_by_compose, set(settings()))
        for name, default in VARIABLES.findall(COMPOSE):
            if name not in ("VERSION",):
                self.assertEqual(default, settings()[name], f"default of {name}")

    def test_every_service_has_least_rights(self):
        for name, service in composed()["services"].items():
            with self.subTest(name):
                self.assertEqual(service["cap_drop"], ["ALL"])
                self.assertIn("no-new-privileges:true", service["security_opt"])
                self.assertEqual(service["restart"], "unless-stopped")
                self.assertLessEqual({"mem_limit", "cpus", "pids_limit", "logging"}, set(service))
                self.assertNotIn("privileged", service)
                self.assertEqual(service.get("read_only", False), name != "grafana")
                for port in service.get("ports", []):
                    self.assertTrue(port.startswith("127.0.0.1:"), f"{port} is published beyond this machine")

    def test_images_are_pinned(self):
        for name, service in composed()["services"].items():
            self.assertRegex(service["image"], r":v?\d+\.\d+\.\d+$", name)

    def test_mounted_files_exist(self):
        named = composed()["volumes"]
        for name, service in composed()["services"].items():
            for volume in service.get("volumes", []):
                source, target = volume.split(":")[:2]
                with self.subTest(f"{name} {source}"):
                    if source.startswith("."):
                        self.assertTrue((FOLDER / source).exists(), f"{source} is not there")
                    else:
                        self.assertIn(source, named)
                    self.assertTrue(target.startswith("/"))

    def test_dependencies_are_services(self):
        services = composed()["services"]
        for name, service in services.items():
            for other, condition in service.get("depends_on", {}).items():
                self.assertIn(other, services)
                self.assertNotIn("profiles", services[other], f"{name} would not start without a profile of {other}")
                if condition["condition"] == "service_healthy":
                    self.assertIn("test", services[other]["healthcheck"])


class Grafana(unittest.TestCase):
    def setUp(self):
        self.service = composed()["services"]["grafana"]
        self.mounts = {target: FOLDER / source for source, target in
                       (volume.split(":")[:2] for volume in self.service["volumes"]) if source.startswith(".")}

    def on_host(self, path):
        """The file of the repository that Grafana sees under this path."""
        for target, source in self.mounts.items():
            if path == target or path.startswith(target + "/"):
                return source / path[len(target):].lstrip("/")
        self.fail(f"{path} is under none of {sorted(self.mounts)}")

    def test_home_dashboard_is_a_dashboard(self):
        path = self.service["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
        self.assertIn("panels", json.loads(self.on_host(path).read_text()))

    def test_provider_reads_the_mounted_dashboards(self):
        for file in self.on_host("/etc/grafana/provisioning/dashboards").glob("*.yaml"):
            for provider in yaml.safe_load(file.read_text())["providers"]:
                self.assertTrue(list(self.on_host(provider["options"]["path"]).glob("*.json")))

    def test_data_sources_are_services_at_their_ports(self):
        ports = {name: {port.rsplit(":", 1)[1] for port in service.get("ports", [])}
                 for name, service in composed()["services"].items()}
        sources = [source for file in self.on_host("/etc/grafana/provisioning/datasources").glob("*.yaml")
                   for source in yaml.safe_load(file.read_text())["datasources"]]
        self.assertTrue(sources)
        for source in sources:
            url = urllib.parse.urlsplit(source["url"])
            self.assertIn(str(url.port), ports.get(url.hostname, set()), source["url"])
            if source["type"] not in ("prometheus",):
                self.assertIn(source["type"], self.service["environment"]["GF_PLUGINS_PREINSTALL"])


class Prometheus(unittest.TestCase):
    def setUp(self):
        self.configuration = yaml.safe_load((FOLDER / "prometheus" / "prometheus.yml").read_text())

    def test_promtool_accepts_it_with_the_rules(self):
        if not shutil.which("promtool"):
            self.skipTest("no promtool here: apt-get install prometheus")
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(FOLDER / "prometheus" / "prometheus.yml", folder)
            os.symlink(REPOSITORY / "grafana" / "rules", pathlib.Path(folder, "rules"))
            result = subprocess.run(["promtool", "check", "config", pathlib.Path(folder, "prometheus.yml")],
                                    capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        files = len(list((REPOSITORY / "grafana" / "rules").glob("*.yaml")))
        self.assertIn(f"{files} rule files found", result.stdout)

    def test_targets_are_services_at_their_ports(self):
        services = composed()["services"]
        jobs = {job["job_name"]: job["static_configs"][0]["targets"] for job in self.configuration["scrape_configs"]}
        host, port = jobs["air-quality-exporter"][0].split(":")
        self.assertTrue(services[host]["ports"][0].endswith(f":{port}"))
        alerting = self.configuration["alerting"]["alertmanagers"][0]["dns_sd_configs"][0]
        self.assertTrue(services[alerting["names"][0]]["ports"][0].endswith(f":{alerting['port']}"))

    def test_rules_select_jobs_that_are_scraped(self):
        jobs = {job["job_name"] for job in self.configuration["scrape_configs"]}
        selected = {name for file in (REPOSITORY / "grafana" / "rules").glob("*.yaml")
                    for name in re.findall(r'job="([^"]+)"', file.read_text())}
        self.assertTrue(selected)
        self.assertLessEqual(selected, jobs)

    def test_scrape_interval_is_the_one_that_grafana_is_told(self):
        sources = [source for file in (REPOSITORY / "grafana" / "provisioning" / "datasources").glob("*.yaml")
                   for source in yaml.safe_load(file.read_text())["datasources"] if source["type"] == "prometheus"]
        self.assertEqual([source["jsonData"]["timeInterval"] for source in sources],
                         [self.configuration["global"]["scrape_interval"]])
