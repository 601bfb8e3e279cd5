"""What Grafana reads at its start in the container deployment."""

import pytest
import yaml

from grafana.dashboards import GRAFANA, INFINITY, data_source

FOLDER = GRAFANA / "provisioning"


@pytest.fixture(scope="module")
def sources() -> list[dict]:
    return yaml.safe_load((FOLDER / "datasources" / "airquality.yaml").read_text())["datasources"]


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
