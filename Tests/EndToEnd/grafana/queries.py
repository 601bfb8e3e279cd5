"""Every variable, query and annotation of every dashboard, sent to a real Prometheus as Grafana would send it."""

import json
import re
import time

from checks import Checks
from dashboards import GRAFANA, PROMETHEUS, annotations, data_source, field_settings, panels, variables
from exposition import names
from live import CITIES, Prometheus, Stack
from promql import interpolate, labels_of, selectors

# Prometheus makes these itself.
SYNTHETIC = {"up", "scrape_duration_seconds", "scrape_samples_scraped", "ALERTS"}
# What Grafana puts in for a quarter of an hour on a screen; the data is younger than that.
BUILT_IN = {
    "__interval": "1s",
    "__interval_ms": "1000",
    "__range": "900s",
    "__range_s": "900",
    "__rate_interval": "20s",
}
Choice = dict[str, tuple[list[str], str | None]]


def check_names(page: str, help_text: str) -> Checks:
    """Every metric and every flag that a file under grafana/ names exists."""
    checks = Checks()
    known = names(page)
    for path in sorted(GRAFANA.rglob("*")):
        if path.is_dir():
            continue
        text = path.read_text()
        where = path.relative_to(GRAFANA)
        for metric in sorted(set(re.findall(r"\b(?:airquality|process|promhttp)_\w+", text))):
            checks.that(metric in known, f"{where}: the exporter has no metric {metric}")
        for flag in sorted(set(re.findall(r"--[a-z]+\.[a-z-]+", text))):
            checks.that(flag in help_text, f"{where}: the exporter has no flag {flag}")
    return checks


def check_metrics(dashboards: dict[str, dict], page: str, recorded: set[str]) -> Checks:
    """Every selector of every dashboard asks for something that is exposed, recorded or Prometheus' own."""
    checks = Checks()
    known = names(page) | recorded | SYNTHETIC
    for name, dashboard in dashboards.items():
        for panel in panels(dashboard):
            for target in panel.get("targets", []):
                for selector in selectors(target.get("expr", "0")):
                    checks.that(
                        selector.metric in known, f"{name}: {panel['title']!r}: nobody exposes {selector.metric}"
                    )
    return checks


def choices(dashboard: dict, instance: str) -> list[Choice]:
    """All of everything; then one city after the other, with job and instance chosen by name."""
    everything: Choice = {"job": ([], ".+"), "instance": ([], ".+"), "city": (CITIES, None)}
    chosen: Choice = {"job": (["air-quality-exporter"], None), "instance": ([instance], None)}
    if not any(variable["name"] == "city" for variable in variables(dashboard)):
        return [everything, {**chosen, "city": (CITIES, None)}]
    return [everything] + [{**chosen, "city": ([city], None)} for city in CITIES]


def check_queries(dashboards: dict[str, dict], running: Stack) -> Checks:
    checks = Checks()
    for name, dashboard in dashboards.items():
        if data_source(dashboard) != PROMETHEUS:
            continue
        check_variables(checks, name, dashboard, running)
        for choice in choices(dashboard, running.exporter):
            for panel in panels(dashboard):
                for target in panel.get("targets", []):
                    check_target(
                        checks,
                        f"{name}: {panel['title']!r} {target['refId']}",
                        panel,
                        target,
                        choice,
                        running.prometheus,
                    )
            for annotation in annotations(dashboard):
                check_annotation(
                    checks, f"{name}: annotation {annotation['name']!r}", annotation, choice, running.prometheus
                )
    return checks


def check_variables(checks: Checks, name: str, dashboard: dict, running: Stack) -> None:
    wanted = {"job": ["air-quality-exporter"], "instance": [running.exporter], "city": sorted(CITIES)}
    for variable in variables(dashboard):
        if variable["type"] != "query":
            continue
        where = f"{name}: ${variable['name']}"
        selector, label = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"]).groups()
        for choice in choices(dashboard, running.exporter)[:2]:
            try:
                found = running.prometheus.ask(
                    f"label/{label}/values", **{"match[]": interpolate(selector, choice, BUILT_IN)}
                )
            except ValueError as error:
                checks.that(False, f"{where}: {error}")
                continue
            checks.that(sorted(found) == wanted[variable["name"]], f"{where}: offers {found}")


def check_target(checks: Checks, where: str, panel: dict, target: dict, choice: Choice, prometheus: Prometheus) -> None:
    chosen = choice["city"][0]
    where = f"{where} for {chosen[0] if len(chosen) == 1 else 'all cities'}"
    try:
        expression = interpolate(target["expr"], choice, BUILT_IN)
        found = prometheus.instant(expression) if target["instant"] else prometheus.over_time(expression, 900, 1)
    except ValueError as error:
        checks.that(False, f"{where}: {error}")
        return
    # Where a query is about one category, a single city need not have been in it.
    selective = len(chosen) == 1 and 'category="' in target["expr"]
    if not checks.that(found or selective, f"{where}: empty"):
        return
    labels = labels_of(target["expr"])
    alerts = "ALERTS" in target["expr"]
    for series in found:
        have = set(series["metric"])
        # Alerts are about different things and have different labels; every other series has them all.
        checks.that(
            have <= labels if alerts else have == labels, f"{where}: labels {sorted(have)}, expected {sorted(labels)}"
        )
    if "city" in labels and not alerts:
        cities = {series["metric"].get("city") for series in found}
        some = "topk(1" in target["expr"] or 'category="' in target["expr"]
        checks.that(
            cities <= set(chosen) if some else cities == set(chosen), f"{where}: shows {sorted(map(str, cities))}"
        )
    check_values(checks, where, panel, target, found)


def values_of(found: list[dict]) -> list[float]:
    return [float(value) for series in found for _, value in series.get("values", [series.get("value", (0, "0"))])]


def check_values(checks: Checks, where: str, panel: dict, target: dict, found: list[dict]) -> None:
    """The values fit what the panel does with them: its unit and its mappings."""
    column = "Value" if len(panel["targets"]) == 1 else f"Value #{target['refId']}"
    own = {"defaults", column, target.get("legendFormat")}
    settings = {name: value for where_set, name, value in field_settings(panel) if where_set in own}
    values = values_of(found)
    checks.that(all(value == value for value in values), f"{where}: NaN")
    unit = settings.get("unit")
    if unit == "dateTimeFromNow":
        near = all(abs(value / 1000 - time.time()) < 86400 for value in values)
        checks.that(near, f"{where}: {unit} wants milliseconds since 1970, not {values[:3]}")
    if unit == "s":
        checks.that(all(-1 < value < 86400 for value in values), f"{where}: {values[:3]} are no seconds of this test")
    if unit == "percentunit":
        checks.that(all(0 <= value <= 1 for value in values), f"{where}: {values[:3]} is no share")
    for mapping in settings.get("mappings") or []:
        if mapping["type"] == "value":
            odd = {value for value in values if f"{value:g}" not in mapping["options"]}
            checks.that(not odd, f"{where}: {sorted(odd)} has no word in the mapping")


def check_annotation(checks: Checks, where: str, annotation: dict, choice: Choice, prometheus: Prometheus) -> None:
    chosen = choice["city"][0]
    where = f"{where} for {chosen[0] if len(chosen) == 1 else 'all cities'}"
    try:
        found = prometheus.over_time(interpolate(annotation["expr"], choice, BUILT_IN), 900, 1)
    except ValueError as error:
        checks.that(False, f"{where}: {error}")
        return
    if not checks.that(found, f"{where}: empty"):
        return
    labels = labels_of(annotation["expr"])
    checks.that(
        all(set(series["metric"]) == labels for series in found), f"{where}: labels other than {sorted(labels)}"
    )
    if "city" in labels:
        cities = {series["metric"]["city"] for series in found}
        checks.that(cities == set(chosen), f"{where}: marks {sorted(cities)}")
    near = all(abs(value / 1000 - time.time()) < 86400 for value in values_of(found))
    checks.that(near, f"{where}: not milliseconds since 1970")


def check_rules(running: Stack) -> Checks:
    """Prometheus runs every rule without an error, and every recording rule records."""
    checks = Checks()
    for group in running.prometheus.ask("rules")["groups"]:
        for rule in group["rules"]:
            where = f"rule {rule['name']}"
            checks.that(rule["health"] == "ok", f"{where}: {rule['health']} {rule.get('lastError', '')}")
            if rule["type"] == "recording":
                checks.that(running.prometheus.instant(rule["name"]), f"{where}: records nothing")
            for alert in rule.get("alerts", []):
                texts = json.dumps(alert["annotations"], ensure_ascii=False)
                checks.that("<error" not in texts and "<no value>" not in texts, f"{where}: {texts}")
    return checks
