"""docker/scale: what the real tools say of its files, and that they agree with each other."""

import os
import re
import shutil
import subprocess

import pytest
import yaml

from docker.engine import REPOSITORY
from docker.test_compose import compose_command
from scale.deployment import composed

FOLDER = REPOSITORY / "docker" / "scale"
VARIABLES = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
SERVICES = composed()
EXPORTERS = [f"exporter-{shard}-{replica}" for shard in range(4) for replica in "ab"]
each_service = pytest.mark.parametrize("name", SERVICES)


def settings() -> dict[str, str]:
    lines = (FOLDER / ".env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def needs(program: str) -> str:
    found = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin")
    if not found:
        pytest.skip(f"{program} is not installed")
    return found


def test_compose_accepts_it():
    command = compose_command()
    if not command:
        pytest.skip("no docker compose here: apt-get install docker-compose")
    good = subprocess.run([*command, "config"], cwd=FOLDER, capture_output=True, text=True)
    assert good.returncode == 0, good.stderr
    assert set(EXPORTERS) < set(yaml.safe_load(good.stdout)["services"])


def test_variables_are_those_of_the_settings_file():
    text = (FOLDER / "compose.yaml").read_text()
    used = {match[1] for match in VARIABLES.finditer(text)}
    assert used | {"COMPOSE_PROFILES", "COMPOSE_PROJECT_NAME"} == set(settings())
    defaults = {name: default for name, default in VARIABLES.findall(text) if name not in ("VERSION", "REVISION")}
    assert defaults == {name: settings()[name] for name in defaults}


@each_service
def test_service_has_least_rights(name):
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert {"mem_limit", "cpus", "pids_limit", "logging", "restart"} <= set(service)
    assert service["read_only"] == (name != "grafana")
    for port in service.get("ports", []):
        assert port.startswith("127.0.0.1:"), f"{port} is published beyond this machine"
    assert service["image"] == "air-quality-exporter:dev" or re.search(r":v?\d+\.\d+\.\d+$", service["image"])


@each_service
def test_mounted_files_and_volumes_exist(name):
    volumes = yaml.safe_load((FOLDER / "compose.yaml").read_text())["volumes"]
    for volume in SERVICES[name].get("volumes", []):
        source = volume.split(":")[0]
        assert (FOLDER / source).exists() if source.startswith(".") else source in volumes, source


@pytest.mark.parametrize("name", EXPORTERS)
def test_exporter_is_its_shard(name, programs, tmp_path):
    environment = SERVICES[name]["environment"]
    shard = name.split("-")[1]
    assert environment["AIR_QUALITY_EXPORTER_CITY_SHARD"] == f"{shard}/4"
    assert environment["AIR_QUALITY_EXPORTER_FEED_URL"].endswith(f"/shard/{shard}/4")
    assert f"readings-{name.removeprefix('exporter-')}:/var/lib/air-quality-exporter" in SERVICES[name]["volumes"]
    # The image has this folder, which --config.check looks at.
    environment = {
        key: str(value).replace("/var/lib/air-quality-exporter", str(tmp_path)) for key, value in environment.items()
    }
    check = programs.run("air-quality-exporter", "--config.check", environment=environment)
    assert check.output == ["configuration is valid"], check.errors
    flags = programs.run("air-quality-exporter", "--help").output
    known = {
        "AIR_QUALITY_EXPORTER_" + re.sub(r"[.-]", "_", match[1]).upper()
        for line in flags
        if (match := re.match(r"\s+--([a-z.-]+)", line))
    }
    assert set(environment) <= known, "a variable that names no flag is ignored"


def test_relay_divides_among_as_many_as_there_are(programs):
    command = SERVICES["relay"]["command"]
    assert command[command.index("--shards") + 1] == "4"
    assert len(EXPORTERS) == 8 and set(EXPORTERS) < set(SERVICES)
    taken = programs.run("air-quality-feed", *command, "--version")
    assert taken.process.returncode == 0, taken.errors


def test_haproxy_accepts_its_file_and_knows_every_exporter():
    text = (FOLDER / "haproxy.cfg").read_text()
    assert set(re.findall(r"exporter-\d-[ab]", text)) == set(EXPORTERS)
    result = subprocess.run(
        [needs("haproxy"), "-c", "-f", FOLDER / "haproxy.cfg"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    # The only thing to warn of is that there are no such hosts here.
    assert [line for line in result.stderr.splitlines() if "WARNING" in line and "could not resolve" not in line] == []
    bad = subprocess.run([needs("haproxy"), "-c", "-f", "-"], input=text.replace("httpchk", "htpchk"), capture_output=True, text=True)
    assert bad.returncode != 0


def scrapes(name: str) -> list[dict]:
    return yaml.safe_load((FOLDER / name).read_text())["scrape_configs"]


def test_agents_scrape_the_same():
    assert scrapes("agent.yml") == scrapes("prometheus-agent.yml")
    cities, exporters, relay = scrapes("agent.yml")
    ports = re.findall(r"bind :(\d+)", (FOLDER / "haproxy.cfg").read_text())
    assert [each["targets"] for each in cities["static_configs"]] == [[f"proxy:{port}"] for port in ports]
    assert [each["targets"] for each in exporters["static_configs"]] == [[f"{name}:10025"] for name in EXPORTERS]
    assert relay["static_configs"] == [{"targets": ["relay:10026"]}]
    command = SERVICES["relay"]["command"]
    assert command[command.index("--web.listen-address") + 1] == ":10026"


def test_agents_accept_their_files():
    agent = subprocess.run(
        [needs("vmagent"), f"-promscrape.config={FOLDER / 'agent.yml'}", "-dryRun", "-remoteWrite.url=http://x/"],
        capture_output=True, text=True)  # fmt: skip
    assert agent.returncode == 0, agent.stderr
    prometheus = subprocess.run(
        [needs("promtool"), "check", "config", "--agent", FOLDER / "prometheus-agent.yml"], capture_output=True, text=True)
    assert prometheus.returncode == 0, prometheus.stdout + prometheus.stderr


def test_databases_keep_one_sample_a_scrape_interval():
    interval = yaml.safe_load((FOLDER / "agent.yml").read_text())["global"]["scrape_interval"]
    for replica in "ab":
        assert f"-dedup.minScrapeInterval={interval}" in SERVICES[f"victoriametrics-{replica}"]["command"]
    for source in yaml.safe_load((FOLDER / "grafana" / "datasources.yaml").read_text())["datasources"]:
        assert source["jsonData"]["timeInterval"] == interval
        assert source["url"].removeprefix("http://").split(":")[0] in SERVICES
