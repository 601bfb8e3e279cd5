"""What Grafana reads at its start in the container deployment."""

import yaml

from checks import Checks
from dashboards import GRAFANA, data_source


def check_provisioning(dashboards: dict[str, dict]) -> Checks:
    checks = Checks()
    directory = GRAFANA / "provisioning"
    for path in sorted(directory.rglob("*.yaml")):
        content = yaml.safe_load(path.read_text())
        checks.that(content.get("apiVersion") == 1, f"{path.name}: apiVersion {content.get('apiVersion')}, expected 1")
        # Grafana puts environment variables into these files.
        checks.that("$" not in str(content), f"{path.name}: a dollar sign would be taken for a variable")
    sources = yaml.safe_load((directory / "datasources" / "airquality.yaml").read_text())["datasources"]
    for key in ("name", "uid"):
        values = [source.get(key) for source in sources]
        checks.that(None not in values and len(values) == len(set(values)), f"data sources: {key}s {values}")
    checks.that(
        [s["type"] for s in sources if s.get("isDefault")] == ["prometheus"],
        "data sources: Prometheus must be the default",
    )
    checks.that(all(source.get("editable") is False for source in sources), "data sources: must not be editable")
    kinds = {source["type"] for source in sources}
    for name, dashboard in dashboards.items():
        checks.that(data_source(dashboard) in kinds, f"{name}: no data source of the kind {data_source(dashboard)!r}")
    exporter = [source["url"] for source in sources if source["type"] == "yesoreyeram-infinity-datasource"]
    allowed = [source["jsonData"]["allowedHosts"] for source in sources if "allowedHosts" in source.get("jsonData", {})]
    checks.that(allowed == [exporter], f"data sources: Infinity may reach {allowed}, its address is {exporter}")
    providers = yaml.safe_load((directory / "dashboards" / "airquality.yaml").read_text())["providers"]
    checks.that(len(providers) == 1 and providers[0]["type"] == "file", "dashboards: one provider that reads files")
    checks.that(providers[0]["allowUiUpdates"] is False, "dashboards: Grafana must not change what the files say")
    return checks
