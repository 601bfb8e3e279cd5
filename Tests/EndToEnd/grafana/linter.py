"""The rules of grafana/dashboard-linter that apply to Prometheus dashboards, by the linter's names."""

import re

from grafana.complaints import Complaints
from grafana.dashboards import PROMETHEUS, data_source, expressions, panels, variables
from grafana.promql import PromQLError, selectors

COUNTING = {"rate", "irate", "increase"}


def check_linter_rules(name: str, dashboards: dict[str, dict]) -> Complaints:
    complaints, dashboard = Complaints(), dashboards[name]
    complaints.that(dashboard.get("editable") is False, f"uneditable-dashboard: {name}")
    sources = [variable for variable in variables(dashboard) if variable.get("type") == "datasource"]
    good = len(sources) == 1 and sources[0].get("name") == "datasource" and sources[0].get("label") == "Data source"
    complaints.that(good, f"template-datasource-rule: {name}: exactly one, called datasource, labelled Data source")
    for panel in panels(dashboard):
        check_panel(complaints, f"{name}: {panel.get('title')!r}", panel)
    for variable in variables(dashboard):
        if variable.get("type") == "query":
            rule = f"template-on-time-change-reload-rule: {name}: ${variable.get('name')}"
            complaints.that(variable.get("refresh") == 2, rule)
    if data_source(dashboard) == PROMETHEUS:
        check_templates(complaints, name, dashboard)
        for where, expression in expressions(dashboard):
            check_expression(complaints, where, expression)
    return complaints


def check_panel(complaints: Complaints, where: str, panel: dict) -> None:
    if panel.get("type") == "text":
        return
    source = panel.get("datasource", {}).get("uid")
    complaints.that(source in ("$datasource", "${datasource}"), f"panel-datasource-rule: {where}: {source!r}")
    complaints.that(panel.get("title") and panel.get("description"), f"panel-title-description-rule: {where}")
    complaints.that(panel.get("fieldConfig", {}).get("defaults", {}).get("unit"), f"panel-units-rule: {where}")
    complaints.that(panel.get("targets"), f"panel-no-targets-rule: {where}")


def check_templates(complaints: Complaints, name: str, dashboard: dict) -> None:
    by_name = {variable.get("name"): variable for variable in variables(dashboard)}
    for wanted in ("job", "instance"):
        variable = by_name.get(wanted, {})
        rule = f"template-{wanted}-rule: {name}: ${wanted}"
        complaints.that(variable.get("type") == "query", f"{rule} must be a query")
        complaints.that(variable.get("label") == wanted, f"{rule} must be labelled {wanted}")
        complaints.that(variable.get("multi") is True, f"{rule} must allow several values")
        complaints.that(variable.get("allValue") == ".+", f"{rule} must have .+ for All")
        complaints.that(
            variable.get("datasource", {}).get("uid") in ("$datasource", "${datasource}"),
            f"{rule} must use $datasource",
        )
    for variable in by_name.values():
        if variable.get("type") != "query":
            continue
        query = variable.get("query")
        text = query.get("query", "") if isinstance(query, dict) else str(query)
        match = re.fullmatch(r"label_values\((.+), (\w+)\)", text)
        rule = f"template-label-promql-rule: {name}: ${variable.get('name')}"
        if complaints.that(match, f"{rule}: {text!r} is no label_values(…)"):
            complaints.that(text == variable.get("definition"), f"{rule}: definition and query differ")
            try:
                complaints.that(len(selectors(match.group(1))) == 1, f"{rule}: {text!r} holds no selector")
            except PromQLError as error:
                complaints.that(False, f"{rule}: {error}")


def check_expression(complaints: Complaints, where: str, expression: str) -> None:
    try:
        found = selectors(expression)
    except PromQLError as error:
        complaints.that(False, f"target-promql-rule: {where}: {error}")
        return
    complaints.that(found, f"target-promql-rule: {where}: no metric in {expression!r}")
    for selector in found:
        # An alert that is the same for several exporters has none of theirs.
        for label in ("job",) if selector.metric == "ALERTS" else ("job", "instance"):
            has = (label, "=~", f"${label}") in selector.matchers
            complaints.that(has, f'target-{label}-rule: {where}: {selector.metric} lacks {label}=~"${label}"')
        inner = selector.functions[-1] if selector.functions else ""
        if inner in ("rate", "irate"):
            complaints.that(selector.range == "$__rate_interval", f"target-rate-interval-rule: {where}: [{selector.range}]")
        if selector.range:
            complaints.that(inner, f"target-rate-interval-rule: {where}: a range outside a function")
        if selector.metric.endswith("_total"):
            counted = bool(COUNTING & set(selector.functions))
            complaints.that(counted, f"target-counter-agg-rule: {where}: {selector.metric} outside of {sorted(COUNTING)}")
