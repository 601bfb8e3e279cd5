"""The alert rules in `grafana/rules`."""

import re
from pathlib import Path

import yaml

from grafana.dashboards import ROOT

RULES = ROOT / "grafana/rules/airquality.alerts.yaml"
ALERTS = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def named(alert: str) -> tuple[str, str]:
    """The full name and the severity of an alert, as stories name it."""
    name, _, severity = f"AirQuality{alert}".partition("/")
    (found,) = (
        rule["labels"]["severity"]
        for rule in ALERTS
        if rule["alert"] == name and severity in ("", rule["labels"]["severity"])
    )
    return name, found


def faster(text: str, speed: int) -> str:
    """Rules or configuration with all times divided: durations, and numbers of seconds (`300`)."""
    text = re.sub(r"(?<![\w.])\d{3,}\b", lambda found: f"{int(found[0]) / speed:g}", text)
    return re.sub(
        r"\b(\d+)([smhd])\b",
        lambda found: f"{int(found[1]) * UNITS[found[2]] * 1000 // speed}ms",
        text,
    )


def faster_rules(folder: Path, speed: int) -> list[str]:
    rules = folder / "rules.yaml"
    rules.write_text(faster(RULES.read_text(), speed))
    return [str(rules)]
