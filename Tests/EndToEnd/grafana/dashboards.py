"""The dashboards in `grafana/dashboards`, and their contents."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "grafana/dashboards"
DASHBOARDS = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.iterdir())}


def panels(dashboard: dict) -> Iterator[dict]:
    """The panels that show something, including those in collapsed rows."""
    for panel in dashboard["panels"]:
        yield from panel["panels"] if panel["type"] == "row" else [panel]


PANELS = [panel for dashboard in DASHBOARDS.values() for panel in panels(dashboard)]


def panel_titled(title: str) -> dict:
    return next(panel for panel in PANELS if panel["title"] == title)


def variables(dashboard: dict) -> list[dict]:
    return dashboard["templating"]["list"]


def annotations(dashboard: dict) -> list[dict]:
    """The annotations except Grafana's own."""
    return [each for each in dashboard["annotations"]["list"] if "builtIn" not in each]


def settings(panel: dict) -> Iterator[tuple[str, object]]:
    """The name and value of each setting of its fields, including overrides."""
    yield from panel["fieldConfig"]["defaults"].items()
    for override in panel["fieldConfig"]["overrides"]:
        yield from ((one["id"], one["value"]) for one in override["properties"])


# The job of the exporter under test; dashboards that show one job at a time have it chosen.
JOB = "air-quality-exporter"


def interpolated(query: str, city: str = ".+", job: str = JOB) -> str:
    """The query with its variables as Grafana fills them in: one job, or all of them where several
    can be chosen, and an escaped city."""
    escaped = city if city == ".+" else re.sub(r"([\\/^$*+?.()|\[\]{}])", r"\\\1", city)
    values = {'job="$job"': f'job="{job}"', "$job": ".+", "${city:regex}": escaped}
    values |= {"$__rate_interval": "10s", "$__range": "1h"}
    for name, value in values.items():
        query = query.replace(name, value)
    return query
