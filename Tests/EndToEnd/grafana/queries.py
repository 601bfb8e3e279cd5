"""Every variable, query and annotation of every dashboard, sent to a real Prometheus as Grafana would send it."""

import json
import re
import time

from grafana.complaints import Complaints
from grafana.dashboards import GRAFANA, annotations, expressions, field_settings, panels, variables
from grafana.promql import interpolate, labels_of, selectors
from grafana.stack import CITIES, Stack
from support.exposition import Exposition
from support.peers import Prometheus

# Prometheus makes these itself.
SYNTHETIC = {"up", "scrape_duration_seconds", "scrape_samples_scraped", "ALERTS"}
# Of `air-quality-feed poll` and `relay`, which do not run in these tests.
OF_FEEDS = {
    f"airquality_feed_{name}"
    for name in ("requests_total", "request_failures_total", "calls_left", "cities", "cities_with_air", "clients", "connected",
                 "messages_total", "newest_observation_timestamp_seconds")
}  # fmt: skip
# What Grafana puts in for a quarter of an hour on a screen; the data is younger than that.
BUILT_IN = {
    "__interval": "1s",
    "__interval_ms": "1000",
    "__range": "900s",
    "__range_s": "900",
    "__rate_interval": "20s",
}
Choice = dict[str, tuple[list[str], str | None]]


def check_names(page: Exposition, help_text: str) -> Complaints:
    """Every metric and every flag that a file under grafana/ names exists."""
    complaints = Complaints()
    for path in sorted(GRAFANA.rglob("*")):
        if path.is_dir():
            continue
        text = path.read_text()
        where = path.relative_to(GRAFANA)
        for metric in sorted(set(re.findall(r"\b(?:airquality|process|promhttp)_\w+", text))):
            complaints.that(metric in page.names | OF_FEEDS, f"{where}: the exporter has no metric {metric}")
        for flag in sorted(set(re.findall(r"--[a-z]+\.[a-z-]+", text))):
            complaints.that(flag in help_text, f"{where}: the exporter has no flag {flag}")
    return complaints


def check_metrics(name: str, dashboards: dict[str, dict], page: Exposition, recorded: set[str]) -> Complaints:
    """Every selector of a dashboard asks for something that is exposed, recorded or Prometheus' own."""
    complaints = Complaints()
    known = page.names | recorded | SYNTHETIC
    for where, expression in expressions(dashboards[name]):
        for selector in selectors(expression):
            complaints.that(selector.metric in known | OF_FEEDS, f"{where}: nobody exposes {selector.metric}")
    return complaints


def choices(dashboard: dict, instance: str) -> list[Choice]:
    """All of everything; then one city after the other, with job and instance chosen by name."""
    everything: Choice = {"job": ([], ".+"), "instance": ([], ".+"), "city": (CITIES, None)}
    chosen: Choice = {"job": (["air-quality-exporter"], None), "instance": ([instance], None)}
    if not any(variable["name"] == "city" for variable in variables(dashboard)):
        return [everything, {**chosen, "city": (CITIES, None)}]
    return [everything] + [{**chosen, "city": ([city], None)} for city in CITIES]


def check_queries(name: str, dashboards: dict[str, dict], running: Stack) -> Complaints:
    complaints, dashboard = Complaints(), dashboards[name]
    check_variables(complaints, name, dashboard, running)
    for choice in choices(dashboard, running.exporter.address):
        for panel in panels(dashboard):
            for target in panel.get("targets", []):
                where = f"{name}: {panel['title']!r} {target['refId']}"
                check_target(complaints, where, panel, target, choice, running.prometheus)
        for annotation in annotations(dashboard):
            where = f"{name}: annotation {annotation['name']!r}"
            check_annotation(complaints, where, annotation, choice, running.prometheus)
    return complaints


def check_variables(complaints: Complaints, name: str, dashboard: dict, running: Stack) -> None:
    wanted = {"job": ["air-quality-exporter"], "instance": [running.exporter.address], "city": sorted(CITIES)}
    for variable in variables(dashboard):
        if variable["type"] != "query":
            continue
        where = f"{name}: ${variable['name']}"
        selector, label = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"]).groups()
        for choice in choices(dashboard, running.exporter.address)[:2]:
            try:
                found = running.prometheus.ask(
                    f"label/{label}/values", **{"match[]": interpolate(selector, choice, BUILT_IN)}
                )
            except ValueError as error:
                complaints.that(False, f"{where}: {error}")
                continue
            complaints.that(sorted(found) == wanted[variable["name"]], f"{where}: offers {found}")


def check_target(complaints: Complaints, where: str, panel: dict, target: dict, choice: Choice, prometheus: Prometheus) -> None:
    chosen = choice["city"][0]
    where = f"{where} for {chosen[0] if len(chosen) == 1 else 'all cities'}"
    try:
        expression = interpolate(target["expr"], choice, BUILT_IN)
        found = prometheus.query(expression) if target["instant"] else prometheus.query_range(expression, 900)
    except ValueError as error:
        complaints.that(False, f"{where}: {error}")
        return
    if not found and (any(name in target["expr"] for name in OF_FEEDS) or "offset 1d" in target["expr"]):
        return
    # Where a query is about one category, a single city need not have been in it.
    selective = len(chosen) == 1 and 'category="' in target["expr"]
    if not complaints.that(found or selective, f"{where}: empty"):
        return
    labels = labels_of(target["expr"])
    alerts = "ALERTS" in target["expr"]
    for series in found:
        have = set(series["metric"])
        # Alerts are about different things and have different labels; every other series has them all.
        complaints.that(
            have <= labels if alerts else have == labels, f"{where}: labels {sorted(have)}, expected {sorted(labels)}"
        )
    if "city" in labels and not alerts:
        cities = {series["metric"].get("city") for series in found}
        some = "topk(1" in target["expr"] or 'category="' in target["expr"]
        complaints.that(
            cities <= set(chosen) if some else cities == set(chosen), f"{where}: shows {sorted(map(str, cities))}"
        )
    check_values(complaints, where, panel, target, found)


def values_of(found: list[dict]) -> list[float]:
    return [float(value) for series in found for _, value in series.get("values", [series.get("value", (0, "0"))])]


def check_values(complaints: Complaints, where: str, panel: dict, target: dict, found: list[dict]) -> None:
    """The values fit what the panel does with them: its unit and its mappings."""
    column = "Value" if len(panel["targets"]) == 1 else f"Value #{target['refId']}"
    own = {"defaults", column, target.get("legendFormat")}
    settings = {name: value for where_set, name, value in field_settings(panel) if where_set in own}
    values = values_of(found)
    complaints.that(all(value == value for value in values), f"{where}: NaN")
    unit = settings.get("unit")
    if unit == "dateTimeFromNow":
        near = all(abs(value / 1000 - time.time()) < 86400 for value in values)
        complaints.that(near, f"{where}: {unit} wants milliseconds since 1970, not {values[:3]}")
    if unit == "s":
        complaints.that(all(-1 < value < 86400 for value in values), f"{where}: {values[:3]} are no seconds of this test")
    if unit == "percentunit":
        complaints.that(all(0 <= value <= 1 for value in values), f"{where}: {values[:3]} is no share")
    for mapping in settings.get("mappings") or []:
        if mapping["type"] == "value":
            odd = {value for value in values if f"{value:g}" not in mapping["options"]}
            complaints.that(not odd, f"{where}: {sorted(odd)} has no word in the mapping")


def check_annotation(complaints: Complaints, where: str, annotation: dict, choice: Choice, prometheus: Prometheus) -> None:
    chosen = choice["city"][0]
    where = f"{where} for {chosen[0] if len(chosen) == 1 else 'all cities'}"
    try:
        found = prometheus.query_range(interpolate(annotation["expr"], choice, BUILT_IN), 900)
    except ValueError as error:
        complaints.that(False, f"{where}: {error}")
        return
    if not complaints.that(found, f"{where}: empty"):
        return
    labels = labels_of(annotation["expr"])
    complaints.that(
        all(set(series["metric"]) == labels for series in found), f"{where}: labels other than {sorted(labels)}"
    )
    if "city" in labels:
        cities = {series["metric"]["city"] for series in found}
        complaints.that(cities == set(chosen), f"{where}: marks {sorted(cities)}")
    near = all(abs(value / 1000 - time.time()) < 86400 for value in values_of(found))
    complaints.that(near, f"{where}: not milliseconds since 1970")


def check_rules(running: Stack) -> Complaints:
    """Prometheus runs every rule without an error, and every recording rule records."""
    complaints = Complaints()
    for group in running.prometheus.ask("rules")["groups"]:
        for rule in group["rules"]:
            where = f"rule {rule['name']}"
            complaints.that(rule["health"] == "ok", f"{where}: {rule['health']} {rule.get('lastError', '')}")
            if rule["type"] == "recording" and not rule["name"].endswith(":overdue"):
                complaints.that(running.prometheus.query(rule["name"]), f"{where}: records nothing")
            for alert in rule.get("alerts", []):
                texts = json.dumps(alert["annotations"], ensure_ascii=False)
                complaints.that("<error" not in texts and "<no value>" not in texts, f"{where}: {texts}")
    return complaints
