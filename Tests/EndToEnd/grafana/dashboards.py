"""The dashboards as they lie in `grafana/dashboards`, and ways to walk through them."""

import json
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
GRAFANA = PROJECT / "grafana"
PROMETHEUS = "prometheus"
INFINITY = "yesoreyeram-infinity-datasource"


# Folders of dashboards that are made from those of the Indian scale: `scales.py`.
SCALES = ("us", "eu")


def read_dashboards() -> dict[str, dict]:
    """File name without `.json` → dashboard."""
    return {path.stem: json.loads(path.read_text()) for path in paths()}


def paths() -> list[Path]:
    return sorted(path for path in (GRAFANA / "dashboards").rglob("*.json") if path.parent.name not in SCALES)


def dashboard_path(name: str) -> Path:
    (path,) = (path for path in paths() if path.stem == name)
    return path


def canonical(dashboard: dict) -> str:
    """The one way the files are written, so that a change shows as the lines that changed."""
    return json.dumps(dashboard, indent=2, ensure_ascii=False) + "\n"


def panels(dashboard: dict, rows: bool = False) -> Iterator[dict]:
    for panel in dashboard.get("panels", []):
        if panel.get("type") != "row":
            yield panel
            continue
        if rows:
            yield panel
        yield from panel.get("panels", [])


def panel_titled(dashboard: dict, title: str) -> dict:
    return next(panel for panel in panels(dashboard) if panel.get("title") == title)


def data_source(dashboard: dict) -> str:
    """The kind of data source that the variable `datasource` chooses from."""
    return next((v.get("query", "") for v in variables(dashboard) if v.get("type") == "datasource"), "")


def variables(dashboard: dict) -> list[dict]:
    return dashboard.get("templating", {}).get("list", [])


def annotations(dashboard: dict) -> list[dict]:
    """Without the built-in one."""
    return [each for each in dashboard.get("annotations", {}).get("list", []) if not each.get("builtIn")]


def expressions(dashboard: dict) -> Iterator[tuple[str, str]]:
    """Where it stands → PromQL, of every panel and annotation."""
    for panel in panels(dashboard):
        for target in panel.get("targets", []):
            if "expr" in target:
                yield f"{dashboard.get('uid')}: {panel.get('title')!r} {target.get('refId')}", target["expr"]
    for annotation in annotations(dashboard):
        yield f"{dashboard.get('uid')}: annotation {annotation.get('name')!r}", annotation.get("expr", "")


def field_settings(panel: dict) -> Iterator[tuple[str, str, object]]:
    """Where → name of the setting → its value, of the defaults and of every override."""
    config = panel.get("fieldConfig", {})
    for name, value in config.get("defaults", {}).items():
        yield "defaults", name, value
    for override in config.get("overrides", []):
        for one in override.get("properties", []):
            yield str(override.get("matcher", {}).get("options")), one.get("id"), one.get("value")


def mappings(panel: dict) -> Iterator[dict]:
    for _, name, value in field_settings(panel):
        if name == "mappings":
            yield from value


def data_links(panel: dict) -> Iterator[dict]:
    for _, name, value in field_settings(panel):
        if name == "links":
            yield from value
