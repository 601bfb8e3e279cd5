"""compose.yaml, .env.example and Prometheus' configuration: accepted by the real tools, and
consistent with the files that they name."""

import os
import pathlib
import re
import shutil

import pytest
import yaml

from docker.engine import REPOSITORY
from support.commands import run

FOLDER = REPOSITORY / "docker"
COMPOSE = (FOLDER / "compose.yaml").read_text()
VARIABLES = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
PROFILES = {
    "demo": {"feed", "exporter-demo", "prometheus", "alertmanager", "grafana"},
    "live": {"poller", "exporter-live", "prometheus", "alertmanager", "grafana"},
    "feed": {"exporter", "prometheus", "alertmanager", "grafana"},
    "database": {"feed", "exporter-1", "exporter-2", "vmagent", "vminsert", "vmselect"}
    | {"vmstorage-1", "vmstorage-2", "vmalert", "alertmanager", "grafana-database"},
}


def example() -> dict[str, str]:
    """The values in .env.example, by name."""
    lines = (FOLDER / ".env.example").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def composed(values: dict[str, str]) -> dict:
    """The services of compose.yaml with these values, else its defaults."""
    text = VARIABLES.sub(lambda match: values.get(match[1]) or match[2] or "", COMPOSE)
    return yaml.safe_load(text)


SERVICES = composed({})["services"]
each_service = pytest.mark.parametrize("name", SERVICES)


def test_compose_accepts_the_file():
    command = ["docker-compose"] if shutil.which("docker-compose") else ["docker", "compose"]
    if not shutil.which(command[0]):
        pytest.skip("no docker compose here: apt-get install docker-compose")
    run(*command, "config", cwd=FOLDER)


def test_no_password_is_known_before_somebody_sets_it():
    """Grafana's default would be admin. Secrets are files, in a folder that git ignores."""
    for name in ("grafana", "grafana-database"):
        variables = SERVICES[name]["environment"]
        assert variables["GF_SECURITY_ADMIN_PASSWORD__FILE"] == "/proc/sys/kernel/random/uuid"
        assert "GF_SECURITY_ADMIN_PASSWORD" not in variables
    for variable in example():
        assert variable.endswith("_FILE") or not re.search("PASSWORD|KEY|TOKEN", variable)
    readers = {name for name in SERVICES if "./secrets:/run/secrets:ro" in volumes(name)}
    assert readers == {"exporter", "exporter-1", "exporter-2", "poller"} | {
        "grafana", "grafana-database"
    }
    ignored = run("git", "check-ignore", "docker/secrets/feed.header", cwd=REPOSITORY)
    assert ignored.strip() == "docker/secrets/feed.header"


def volumes(name: str) -> list[str]:
    return SERVICES[name].get("volumes", [])


def test_a_feed_that_is_down_makes_a_container_unready_and_is_waited_for():
    for name in ("exporter", "exporter-demo", "exporter-live", "exporter-1", "exporter-2"):
        check = SERVICES[name]["healthcheck"]["test"]
        assert check == ["CMD", "air-quality-exporter", "healthcheck", "--ready"]


def test_each_profile_is_complete_and_nothing_runs_without_one():
    found = {
        profile: {name for name, service in SERVICES.items() if profile in service["profiles"]}
        for profile in PROFILES
    }
    for service in SERVICES.values():
        for other in service.get("depends_on", []):
            assert set(service["profiles"]) <= set(SERVICES[other]["profiles"])
    assert found == PROFILES


def test_simulated_and_real_readings_are_stored_in_separate_volumes():
    """Cities of the demo must not appear among those of a feed."""
    names = ("exporter", "exporter-demo", "exporter-live")
    assert len({str(SERVICES[name]["volumes"]) for name in names}) == len(names)
    given = composed({"FEED_URL": "ws://feed.example/"})["services"]["exporter-demo"]
    assert given["environment"]["AIR_QUALITY_EXPORTER_FEED_URL"] == "ws://feed:8765/"


def test_the_example_settings_name_every_variable_and_change_nothing():
    used = {match[1] for match in VARIABLES.finditer(COMPOSE)}
    assert used | {"COMPOSE_PROFILES", "COMPOSE_PROJECT_NAME"} == set(example())
    assert composed(example()) == composed({})
    # The fields of a feed are read only if somebody names them.
    assert [name for name, value in example().items() if name.startswith("FEED_") and value] == []


@each_service
def test_each_service_has_least_rights_and_a_pinned_image(name):
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert {"mem_limit", "cpus", "pids_limit", "logging", "restart"} <= set(service)
    assert service.get("read_only", False) != name.startswith("grafana")
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    assert "disable" not in service["healthcheck"] and service["healthcheck"]["test"]
    assert "build" in service or re.search(r":v?\d+\.\d+\.\d+(-cluster)?$", service["image"])


@each_service
def test_each_mounted_file_exists(name):
    for volume in volumes(name):
        source, target = volume.split(":")[:2]
        if source.startswith("."):
            assert (FOLDER / source).exists(), source
        else:
            assert source in composed({})["volumes"]
        assert target.startswith("/")


@each_service
def test_the_programs_accept_the_commands_and_settings_of_the_services(programs, name):
    """A feed is run with `--version` instead of a start."""
    service = SERVICES[name]
    if service.get("entrypoint") == ["air-quality-feed"]:
        taken = programs.run("air-quality-feed", *service["command"], "--version")
        assert taken.process.returncode == 0, taken.errors
    elif "build" in service:
        given = {key: str(value or "") for key, value in service["environment"].items()}
        # As set by a user with another feed.
        given |= {"AIR_QUALITY_EXPORTER_FEED_URL": "ws://feed.example/"}
        checked = programs.run("air-quality-exporter", "--config.check", environment=given)
        assert checked.output == ["configuration is valid"], checked.errors
        assert not [line for line in checked.errors if "AIR_QUALITY_EXPORTER_" in line]


def test_hosts_named_in_configuration_files_are_services():
    """The files are those of the data sources, of Prometheus and of vmagent."""
    names = {alias for name, service in SERVICES.items() for alias in (name, *aliases(service))}
    sources = [*(REPOSITORY / "grafana/provisioning/datasources").glob("*.yaml")]
    texts = [path.read_text() for path in (*sources, FOLDER / "database/datasource.yaml")]
    hosts = set(re.findall(r"url: http://([\w-]+):\d+", "".join(texts)))
    prometheus = yaml.safe_load((FOLDER / "prometheus/prometheus.yml").read_text())
    agent = yaml.safe_load((FOLDER / "database/vmagent.yml").read_text())
    for job in [*prometheus["scrape_configs"], *agent["scrape_configs"]]:
        for discovery in job.get("dns_sd_configs", []):
            hosts |= set(discovery["names"])
        for targets in job.get("static_configs", []):
            hosts |= {target.split(":")[0] for target in targets["targets"]}
    command = " ".join(word for service in SERVICES.values() for word in service.get("command", []))
    hosts |= set(re.findall(r"-(?:storageNode=|\w+.url=http://)([\w-]+):", command))
    assert len(hosts) > 8
    assert hosts - {"localhost"} <= names


def aliases(service: dict) -> list[str]:
    return service.get("networks", {}).get("default", {}).get("aliases", [])


def test_the_databases_deduplicate_by_the_scrape_interval_of_the_agent():
    agent = yaml.safe_load((FOLDER / "database/vmagent.yml").read_text())
    wanted = f"-dedup.minScrapeInterval={agent['global']['scrape_interval']}"
    for name in ("vmselect", "vmstorage-1", "vmstorage-2"):
        assert wanted in SERVICES[name]["command"]


def test_the_home_dashboard_of_grafana_exists():
    path = SERVICES["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert (REPOSITORY / "grafana/dashboards" / pathlib.PurePath(path).name).exists()


def test_promtool_accepts_the_configuration_of_prometheus_with_the_rules(tmp_path):
    if not shutil.which("promtool"):
        pytest.skip("no promtool here: apt-get install prometheus")
    shutil.copy(FOLDER / "prometheus/prometheus.yml", tmp_path)
    os.symlink(REPOSITORY / "grafana/rules", tmp_path / "rules")
    run("promtool", "check", "config", tmp_path / "prometheus.yml")


@pytest.mark.parametrize("path", ["compose.yaml", "helm/air-quality-exporter/values.yaml"])
def test_the_memory_limit_of_an_exporter_is_256_mib(path):
    """As SECURITY.md promises for the default limit of cities."""
    text = (FOLDER / path).read_text()
    assert re.search(r"(?s)(x-exporter:|\nresources:).*?(mem_limit: 256m|memory: 256Mi)\n", text)


def test_every_file_names_the_newest_version_of_the_changelog():
    """Every file that names the image or the chart is checked."""
    number = r"(\d+\.\d+\.\d+)\b"
    newest = re.search(rf"## {number}", (REPOSITORY / "CHANGELOG.md").read_text())[1]
    named = r"(?:air-quality-exporter:|\bVERSION=|VERSION:-|appVersion: |newTag: |helm/package )"
    found = {
        (name, version)
        for name in run("git", "ls-files", "docker", "README.md", cwd=REPOSITORY).split()
        for version in re.findall(named + number, (REPOSITORY / name).read_text())
    }
    assert {version for _, version in found} == {newest}, found
    assert len(found) >= 5
