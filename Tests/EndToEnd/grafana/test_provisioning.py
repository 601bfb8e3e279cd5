"""What Grafana reads at its start in the container deployment."""

import pytest
import yaml

from grafana.dashboards import GRAFANA, INFINITY, data_source

FOLDER = GRAFANA / "provisioning"


@pytest.fixture(scope="module")
def sources() -> list[dict]:
    """Those of history.yaml last, which only compose.history.yaml provisions."""
    files = [FOLDER / "datasources" / name for name in ("airquality.yaml", "history.yaml")]
    return [source for file in files for source in yaml.safe_load(file.read_text())["datasources"]]


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.yaml")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_file(path):
    content = yaml.safe_load(path.read_text())
    assert content["apiVersion"] == 1
    assert "$" not in str(content), "Grafana would take a dollar sign for an environment variable"


@pytest.mark.parametrize("key", ["name", "uid"])
def test_data_sources_are_told_apart(sources, key):
    values = [source.get(key) for source in sources]
    assert None not in values and len(values) == len(set(values))


def test_prometheus_is_the_default(sources):
    assert [source["type"] for source in sources if source.get("isDefault")] == ["prometheus"]


def test_nothing_can_be_changed_in_grafana(sources):
    assert all(source.get("editable") is False for source in sources)
    providers = yaml.safe_load((FOLDER / "dashboards" / "airquality.yaml").read_text())["providers"]
    assert [provider["type"] for provider in providers] == ["file"]
    assert providers[0]["allowUiUpdates"] is False


def test_every_dashboard_has_its_data_source(sources, dashboards):
    kinds = {source["type"] for source in sources}
    assert {name for name, dashboard in dashboards.items() if data_source(dashboard) not in kinds} == set()


def test_infinity_may_reach_the_exporter_only(sources):
    exporter = [source["url"] for source in sources if source["type"] == INFINITY]
    allowed = [source["jsonData"]["allowedHosts"] for source in sources if "allowedHosts" in source.get("jsonData", {})]
    assert allowed == [exporter]


def test_what_needs_a_plugin_is_provisioned_with_it_only(sources, dashboards):
    base = yaml.safe_load((FOLDER / "datasources" / "airquality.yaml").read_text())["datasources"]
    assert {source["type"] for source in base} == {"prometheus"}
    needing = {name for name, dashboard in dashboards.items() if data_source(dashboard) == INFINITY}
    assert {path.stem for path in (GRAFANA / "dashboards" / "optional").glob("india/*.json")} == needing
    history = yaml.safe_load((GRAFANA.parent / "docker" / "compose.history.yaml").read_text())["services"]["grafana"]
    assert INFINITY in history["environment"]["GF_PLUGINS_PREINSTALL"]
    mounted = {volume.split(":")[0] for volume in history["volumes"]}
    assert mounted == {"../grafana/provisioning/datasources/history.yaml", "../grafana/dashboards/optional/${AQI_SCALE"}
    assert not mounted & set((GRAFANA.parent / "docker" / "compose.yaml").read_text().split())
