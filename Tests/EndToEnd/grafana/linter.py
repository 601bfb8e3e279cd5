"""The rules of grafana/dashboard-linter that apply to Prometheus dashboards, by the linter's names."""

import re

from checks import Checks
from dashboards import PROMETHEUS, data_source, expressions, panels, variables
from promql import PromQLError, selectors

COUNTING = {"rate", "irate", "increase"}


def check_linter_rules(dashboards: dict[str, dict]) -> Checks:
    checks = Checks()
    for name, dashboard in dashboards.items():
        checks.that(dashboard.get("editable") is False, f"uneditable-dashboard: {name}")
        sources = [variable for variable in variables(dashboard) if variable.get("type") == "datasource"]
        good = len(sources) == 1 and sources[0].get("name") == "datasource" and sources[0].get("label") == "Data source"
        checks.that(good, f"template-datasource-rule: {name}: exactly one, called datasource, labelled Data source")
        for panel in panels(dashboard):
            check_panel(checks, f"{name}: {panel.get('title')!r}", panel)
        for variable in variables(dashboard):
            if variable.get("type") == "query":
                checks.that(
                    variable.get("refresh") == 2,
                    f"template-on-time-change-reload-rule: {name}: ${variable.get('name')}",
                )
        if data_source(dashboard) == PROMETHEUS:
            check_templates(checks, name, dashboard)
            for where, expression in expressions(dashboard):
                check_expression(checks, where, expression)
    return checks


def check_panel(checks: Checks, where: str, panel: dict) -> None:
    if panel.get("type") == "text":
        return
    source = panel.get("datasource", {}).get("uid")
    checks.that(source in ("$datasource", "${datasource}"), f"panel-datasource-rule: {where}: {source!r}")
    checks.that(panel.get("title") and panel.get("description"), f"panel-title-description-rule: {where}")
    checks.that(panel.get("fieldConfig", {}).get("defaults", {}).get("unit"), f"panel-units-rule: {where}")
    checks.that(panel.get("targets"), f"panel-no-targets-rule: {where}")


def check_templates(checks: Checks, name: str, dashboard: dict) -> None:
    by_name = {variable.get("name"): variable for variable in variables(dashboard)}
    for wanted in ("job", "instance"):
        variable = by_name.get(wanted, {})
        rule = f"template-{wanted}-rule: {name}: ${wanted}"
        checks.that(variable.get("type") == "query", f"{rule} must be a query")
        checks.that(variable.get("label") == wanted, f"{rule} must be labelled {wanted}")
        checks.that(variable.get("multi") is True, f"{rule} must allow several values")
        checks.that(variable.get("allValue") == ".+", f"{rule} must have .+ for All")
        checks.that(
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
        if checks.that(match, f"{rule}: {text!r} is no label_values(…)"):
            checks.that(text == variable.get("definition"), f"{rule}: definition and query differ")
            try:
                checks.that(len(selectors(match.group(1))) == 1, f"{rule}: {text!r} holds no selector")
            except PromQLError as error:
                checks.that(False, f"{rule}: {error}")


def check_expression(checks: Checks, where: str, expression: str) -> None:
    try:
        found = selectors(expression)
    except PromQLError as error:
        checks.that(False, f"target-promql-rule: {where}: {error}")
        return
    checks.that(found, f"target-promql-rule: {where}: no metric in {expression!r}")
    for selector in found:
        for label in ("job", "instance"):
            has = (label, "=~", f"${label}") in selector.matchers
            checks.that(has, f'target-{label}-rule: {where}: {selector.metric} lacks {label}=~"${label}"')
        inner = selector.functions[-1] if selector.functions else ""
        if inner in ("rate", "irate"):
            checks.that(selector.range == "$__rate_interval", f"target-rate-interval-rule: {where}: [{selector.range}]")
        if selector.range:
            checks.that(inner, f"target-rate-interval-rule: {where}: a range outside a function")
        if selector.metric.endswith("_total"):
            counted = bool(COUNTING & set(selector.functions))
            checks.that(counted, f"target-counter-agg-rule: {where}: {selector.metric} outside of {sorted(COUNTING)}")
