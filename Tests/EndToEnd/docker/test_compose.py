"""compose.yaml, .env and the configurations of Grafana and Prometheus: accepted by the real tools, and true to the files
they name."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import urllib.parse

import pytest
import yaml

from docker.engine import REPOSITORY

FOLDER = REPOSITORY / "docker"
COMPOSE = (FOLDER / "compose.yaml").read_text()
RULES = sorted((REPOSITORY / "grafana" / "rules").glob("*.yaml"))
VARIABLES = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def settings() -> dict[str, str]:
    """What .env says, by name."""
    lines = (FOLDER / ".env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def composed() -> dict:
    """compose.yaml with the values of .env."""
    values = settings()
    return yaml.safe_load(VARIABLES.sub(lambda match: values[match[1]], COMPOSE))


SERVICES = composed()["services"]
each_service = pytest.mark.parametrize("name", SERVICES)


def compose_command() -> list[str] | None:
    """Compose v2 where there is one, else Debian's docker-compose (v1, the older syntax)."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]):
            if subprocess.run([*command, "version"], capture_output=True).returncode == 0:
                return command
    return None


# MARK: compose.yaml


def test_compose_accepts_it(tmp_path):
    command = compose_command()
    if not command:
        pytest.skip("no docker compose here: apt-get install docker-compose")
    good = subprocess.run([*command, "config"], cwd=FOLDER, capture_output=True, text=True)
    assert good.returncode == 0, good.stderr
    assert set(yaml.safe_load(good.stdout)["services"]) - {"feed", "live", "alertmanager"} == {"exporter", "prometheus", "grafana"}
    bad = tmp_path / "compose.yaml"
    bad.write_text(COMPOSE.replace("restart:", "restrat:"))
    refused = subprocess.run([*command, "--file", bad, "config"], cwd=FOLDER, capture_output=True, text=True)
    assert refused.returncode != 0, "a misspelt key must be refused, else the check proves nothing"


def test_variables_are_those_of_the_settings_file():
    used = {match[1] for match in VARIABLES.finditer(COMPOSE)}
    read_by_compose = {"COMPOSE_FILE", "COMPOSE_PROFILES", "COMPOSE_PROJECT_NAME"}
    assert used | read_by_compose == set(settings())
    defaults = dict(VARIABLES.findall(COMPOSE))
    assert defaults == {name: settings()[name] for name in defaults}


@each_service
def test_service_has_least_rights(name):
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["restart"] == "unless-stopped"
    assert {"mem_limit", "cpus", "pids_limit", "logging"} <= set(service)
    assert "privileged" not in service
    assert service.get("read_only", False) == (name != "grafana")
    for port in service.get("ports", []):
        assert port.startswith("127.0.0.1:"), f"{port} is published beyond this machine"


@each_service
def test_image_is_pinned_or_built_here(name):
    assert "build" in SERVICES[name] or re.search(r":v?\d+\.\d+\.\d+$", SERVICES[name]["image"])


@each_service
def test_mounted_files_exist(name):
    for volume in SERVICES[name].get("volumes", []):
        source, target = volume.split(":")[:2]
        if source.startswith("."):
            assert (FOLDER / source).exists(), source
        else:
            assert source in composed()["volumes"]
        assert target.startswith("/")


@each_service
def test_dependencies_are_services(name):
    for other, condition in SERVICES[name].get("depends_on", {}).items():
        assert other in SERVICES
        assert "profiles" not in SERVICES[other], f"{name} would not start without a profile of {other}"
        if condition["condition"] == "service_healthy":
            assert "test" in SERVICES[other]["healthcheck"]


def test_one_line_changes_the_demo_for_real_air():
    """Both feeds answer to the name that the exporter dials, and each is in a profile of its own."""
    address = urllib.parse.urlsplit(settings()["FEED_URL"])
    assert SERVICES["feed"]["profiles"] == ["demo"]
    assert SERVICES["live"]["profiles"] == ["live"]
    assert SERVICES["live"]["networks"] == {"default": {"aliases": [address.hostname]}}
    for name in ("feed", "live"):
        command = SERVICES[name]["command"]
        assert command[command.index("--listen") + 1].endswith(f":{address.port}")


def test_commands_and_settings_are_the_programs(programs):
    """What the services say to the programs, these take. The bridge is asked for its version in place of a start."""
    for name in ("feed", "live"):
        taken = programs.run("air-quality-feed", *SERVICES[name]["command"], "--version")
        assert taken.process.returncode == 0, taken.errors
    checked = programs.run(
        "air-quality-exporter", "--config.check",
        environment={name: str(value) for name, value in SERVICES["exporter"]["environment"].items()})
    assert checked.output == ["configuration is valid"], checked.errors


# MARK: Grafana

GRAFANA = SERVICES["grafana"]


def on_host(path: str) -> pathlib.Path:
    """The file of the repository that Grafana sees under this path."""
    mounts = {target: source for source, target in (volume.split(":")[:2] for volume in GRAFANA["volumes"])}
    for target, source in mounts.items():
        if source.startswith(".") and (path == target or path.startswith(target + "/")):
            return FOLDER / source / path[len(target) :].lstrip("/")
    raise AssertionError(f"{path} is under none of {sorted(mounts)}")


def mounted(suffix: str) -> list[pathlib.Path]:
    """The files that Grafana sees and whose names end so."""
    sources = [FOLDER / volume.split(":")[0] for volume in GRAFANA["volumes"] if volume.startswith(".")]
    return [file for source in sources for file in ([source] if source.is_file() else source.glob("*")) if file.suffix == suffix]


def test_home_dashboard_is_a_dashboard():
    path = GRAFANA["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert "panels" in json.loads(on_host(path).read_text())


def test_provider_reads_the_mounted_dashboards():
    """Below its path, in one folder for each mount; those of the scale."""
    (provider,) = yaml.safe_load(on_host("/etc/grafana/provisioning/dashboards/airquality.yaml").read_text())["providers"]
    targets = [volume.split(":")[1] for volume in GRAFANA["volumes"] if "/dashboards/" in volume and "provisioning" not in volume]
    assert all(target.startswith(provider["options"]["path"] + "/") for target in targets)
    assert {path.stem for path in mounted(".json")} == {"aqi-overview", "aqi-city", "aqi-exporter"}
    for scale in ("india", "us", "eu"):
        assert {path.stem for path in (FOLDER.parent / "grafana" / "dashboards" / scale).glob("*.json")} == {"aqi-overview", "aqi-city"}


def test_data_sources_are_services_at_their_ports():
    ports = {
        name: {port.rsplit(":", 1)[1] for port in service.get("ports", [])} for name, service in SERVICES.items()
    }
    files = (REPOSITORY / "grafana" / "provisioning" / "datasources").glob("*.yaml")
    sources = [source for file in files for source in yaml.safe_load(file.read_text())["datasources"]]
    assert sources
    for source in sources:
        url = urllib.parse.urlsplit(source["url"])
        assert str(url.port) in ports.get(url.hostname, set()), source["url"]


# MARK: Prometheus

PROMETHEUS = yaml.safe_load((FOLDER / "prometheus" / "prometheus.yml").read_text())
JOBS = {job["job_name"]: job for job in PROMETHEUS["scrape_configs"]}


def test_promtool_accepts_it_with_the_rules(tmp_path):
    if not shutil.which("promtool"):
        pytest.skip("no promtool here: apt-get install prometheus")
    shutil.copy(FOLDER / "prometheus" / "prometheus.yml", tmp_path)
    os.symlink(REPOSITORY / "grafana" / "rules", tmp_path / "rules")
    result = subprocess.run(["promtool", "check", "config", tmp_path / "prometheus.yml"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert f"{len(RULES)} rule files found" in result.stdout


def test_targets_are_services_at_their_ports():
    host, port = JOBS["air-quality-exporter"]["static_configs"][0]["targets"][0].split(":")
    assert SERVICES[host]["ports"][0].endswith(f":{port}")
    # The poller, in its profile alone.
    (poller,) = JOBS["air-quality-feed"]["dns_sd_configs"]
    command = SERVICES[poller["names"][0]]["command"]
    assert command[command.index("--web.listen-address") + 1] == f":{poller['port']}"
    assert SERVICES["live"]["healthcheck"]["test"][-1] == f"--web.listen-address=127.0.0.1:{poller['port']}"
    alerting = PROMETHEUS["alerting"]["alertmanagers"][0]["dns_sd_configs"][0]
    assert SERVICES[alerting["names"][0]]["ports"][0].endswith(f":{alerting['port']}")


def test_alertmanager_routes_and_inhibits_alerts_that_exist():
    configuration = yaml.safe_load((FOLDER / "prometheus" / "alertmanager.yml").read_text())
    files = [*RULES, *(REPOSITORY / "grafana" / "rules" / "optional").glob("*.yaml")]
    rules = [rule for file in files for group in yaml.safe_load(file.read_text())["groups"] for rule in group["rules"]]
    alerts = {rule["alert"]: rule["labels"] for rule in rules if "alert" in rule}
    receivers = {receiver["name"] for receiver in configuration["receivers"]}
    assert {route["receiver"] for route in configuration["route"]["routes"]} | {"nobody"} == receivers
    for rule in configuration["inhibit_rules"]:
        for matcher in rule["source_matchers"] + rule["target_matchers"]:
            names = re.fullmatch(r'alertname (?:=|!=|=~) "?([^"]+)"?', matcher)[1]
            assert names == "AirQuality.+" or set(names.split("|")) <= set(alerts), matcher
    # Nobody is woken by the air.
    public, critical = configuration["route"]["routes"]
    assert (public["matchers"], critical["matchers"]) == (["audience = public"], ["severity = critical"])
    assert not [name for name, labels in alerts.items() if labels.items() >= {"audience": "public", "severity": "critical"}.items()]


def test_scrape_interval_is_the_one_that_grafana_is_told():
    files = (REPOSITORY / "grafana" / "provisioning" / "datasources").glob("*.yaml")
    sources = [source for file in files for source in yaml.safe_load(file.read_text())["datasources"]]
    intervals = [source["jsonData"]["timeInterval"] for source in sources if source["type"] == "prometheus"]
    assert intervals == [PROMETHEUS["global"]["scrape_interval"]]


# MARK: Memory


#: Settings of the exporter where it shows real air.
REAL_AIR = ("CITY_LIMIT", "HISTORY_CAPACITY")


def memory_limits() -> dict[str, tuple[int, int, int]]:
    """MiB that each way of deploying an exporter gives it, its limit of cities, and the points of each."""
    def of(path: str, pattern: str) -> int:
        number, unit = re.search(pattern, (FOLDER / path).read_text()).groups()
        return int(number) * {"M": 1, "m": 1, "G": 1024, "g": 1024}[unit]

    def real_air(path: str, name: str) -> int:
        return int(re.search(name.replace("_", "[_.]") + r'\W+(\d+)', (FOLDER / path).read_text(), re.IGNORECASE)[1])

    kubernetes = r"name: air-quality-exporter\n\s+image.*?limits:\s+memory: (\d+)([MG])i"
    return {
        "compose": (of("compose.yaml", r"(?s)  exporter:.*?mem_limit: (\d+)([mg])"), *(int(settings()[name]) for name in REAL_AIR)),
        "compose, sharded": (of("scale/compose.yaml", r"(?s)x-exporter: .*?mem_limit: (\d+)([mg])"), 30_000, 25),
        "systemd": (of("systemd/air-quality-exporter.service", r"MemoryMax=(\d+)([MG])"), 100_000, 25),
        "kubernetes": (of("kubernetes/base/deployment.yaml", "(?s)" + kubernetes), 100_000, 25),
        "kubernetes, sharded": (of("kubernetes/sharded/base/exporters.yaml", "(?s)" + kubernetes), 30_000, 25),
        "helm": (of("helm/air-quality-exporter/values.yaml", r"(?s)\nresources:.*?limits:\s+memory: (\d+)([MG])i"), 100_000, 25),
    } | {
        f"{name}, real air": (of(path, pattern), *(real_air(settings, variable) for variable in REAL_AIR))
        for name, path, pattern, settings in (
            ("systemd", "systemd/air-quality-exporter.service", r"MemoryMax=(\d+)([MG])", "systemd/air-quality-feed@.service"),
            ("kubernetes", "kubernetes/base/deployment.yaml", "(?s)" + kubernetes, "kubernetes/live/kustomization.yaml"),
            ("helm", "helm/air-quality-exporter/values.yaml", r"(?s)\nresources:.*?limits:\s+memory: (\d+)([MG])i",
             "helm/air-quality-exporter/templates/settings.yaml"),
        )
    }


@pytest.mark.parametrize("deployment", memory_limits())
def test_memory_limit_follows_the_formula(deployment):
    """That of SECURITY.md, with the longest names and one feed; and the storage, which is part of every deployment."""
    text = (REPOSITORY / "SECURITY.md").read_text()
    formula = re.search(r"(\d+) \+ c / 100,000 × \((\d+) \+ ([\d.]+) × p \+ ([\d.]+) × \(n − 10\)\) \+ (\d+) × m × f", text)
    base, city, point, name, parse = map(float, formula.groups())
    limit, cities, points = memory_limits()[deployment]
    storage = 210 / 25 * points
    assert limit >= base + cities / 100_000 * (city + point * points + name * (128 - 10) + storage) + parse * 4
