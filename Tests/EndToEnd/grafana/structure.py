"""What makes a dashboard work beyond its types: names that point at something, a grid without overlaps, one palette.

The rules of grafana/dashboard-linter that apply to Prometheus are in `linter.py`.
"""

import re

from grafana.complaints import Complaints
from grafana.dashboards import (
    INFINITY,
    PROMETHEUS,
    annotations,
    canonical,
    data_links,
    data_source,
    field_settings,
    mappings,
    panels,
    variables,
)
from grafana.promql import PromQLError, labels_of

BUILT_IN = {"__interval", "__interval_ms", "__range", "__range_s", "__rate_interval", "__url_time_range"}
THEMED_COLORS = {"text", "transparent", "green", "red", "orange", "purple", "blue"}
# A line of this colour has at least 3:1 on the light and on the dark background.
LINE_COLORS = {"#3274D9"}
TRANSFORMATIONS = {
    "timeSeriesTable": None,  # its options are one object for each refId
    "joinByField": {"byField", "mode"},
    "convertFieldType": {"fields", "conversions"},
    "filterFieldsByName": {"include", "exclude"},
    "organize": {"excludeByName", "indexByName", "renameByName", "includeByName"},
}
INFINITY_KEYS = {
    "refId", "datasource", "type", "source", "parser", "format", "url", "url_options", "root_selector", "columns",
    "filters", "computed_columns",
}  # fmt: skip
# Members of the history document and what the data source may take them for.
POINT_TYPES = {
    "time": {"timestamp"},
    "time_ms": {"timestamp_epoch"},
    "city": {"string"},
    "aqi": {"number"},
    "category": {"number"},
}


def check_structure(name: str, dashboards: dict[str, dict]) -> Complaints:
    complaints, dashboard = Complaints(), dashboards[name]
    check_head(complaints, name, dashboard)
    check_grid(complaints, name, dashboard)
    check_variables(complaints, name, dashboard)
    check_links(complaints, name, dashboard, dashboards)
    check_annotations(complaints, name, dashboard)
    for panel in panels(dashboard):
        check_panel(complaints, f"{name}: {panel.get('title')!r}", panel, dashboard)
    return complaints


def check_head(complaints: Complaints, name: str, dashboard: dict) -> None:
    complaints.that(dashboard.get("uid") == name, f"{name}: uid {dashboard.get('uid')!r} differs from the name of the file")
    complaints.that(re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?", str(dashboard.get("uid"))), f"{name}: bad uid")
    for key, wanted in {
        "id": None,
        "schemaVersion": 41,
        "editable": False,
        "timezone": "browser",
        "graphTooltip": 1,
    }.items():
        complaints.that(
            dashboard.get(key, "absent") == wanted, f"{name}: {key} is {dashboard.get(key)!r}, expected {wanted!r}"
        )
    for key in ("title", "description"):
        complaints.that(dashboard.get(key), f"{name}: no {key}")
    complaints.that("air-quality" in dashboard.get("tags", []), f"{name}: the tag air-quality is missing")
    for key in ("__inputs", "__requires", "__elements", "apiVersion", "kind", "spec", "elements"):
        complaints.that(key not in dashboard, f"{name}: {key} breaks provisioning from files")
    seconds = re.fullmatch(r"(\d+)(s|m)", str(dashboard.get("refresh")))
    complaint = f"{name}: refresh {dashboard.get('refresh')!r} is below Grafana's least of 5s"
    complaints.that(seconds and (seconds.group(2) == "m" or int(seconds.group(1)) >= 5), complaint)


def check_grid(complaints: Complaints, name: str, dashboard: dict) -> None:
    everything = list(panels(dashboard, rows=True))
    ids = [panel.get("id") for panel in everything]
    complaints.that(len(ids) == len(set(ids)), f"{name}: panel ids are not unique")
    titles = [panel.get("title") for panel in everything]
    complaints.that(len(titles) == len(set(titles)), f"{name}: panel titles are not unique")
    check_overlaps(complaints, name, dashboard.get("panels", []))
    for panel in dashboard.get("panels", []):
        if panel.get("type") == "row":
            where = f"{name}: row {panel.get('title')!r}"
            complaints.that(
                panel.get("collapsed") == bool(panel.get("panels")), f"{where}: only a collapsed row holds its panels"
            )
            check_overlaps(complaints, where, panel.get("panels", []))


def check_overlaps(complaints: Complaints, where: str, group: list[dict]) -> None:
    taken: dict[tuple[int, int], str] = {}
    for panel in group:
        grid = panel.get("gridPos", {})
        x, y, w, h = (grid.get(key, -1) for key in "xywh")
        title = panel.get("title")
        if not complaints.that(
            x >= 0 and y >= 0 and w > 0 and h > 0 and x + w <= 24, f"{where}: {title!r} leaves the grid: {grid}"
        ):
            continue
        cells = [(column, line) for column in range(x, x + w) for line in range(y, y + h)]
        others = {taken[cell] for cell in cells if cell in taken}
        complaints.that(not others, f"{where}: {title!r} lies on {sorted(others)}")
        taken.update({cell: str(title) for cell in cells})


def check_variables(complaints: Complaints, name: str, dashboard: dict) -> None:
    defined = {variable.get("name") for variable in variables(dashboard)}
    text = canonical({key: value for key, value in dashboard.items() if key != "templating"})
    for variable in variables(dashboard):
        query = variable.get("query")
        text += canonical(query) if isinstance(query, dict) else str(query)
    used = set(re.findall(r"\$\{?([A-Za-z_]\w*)", text)) - BUILT_IN - {"__data", "__field"}
    for variable in sorted(used | defined):
        complaints.that(variable in defined, f"{name}: ${variable} is used but not defined")
        complaints.that(variable in used, f"{name}: ${variable} is defined but not used")


def check_links(complaints: Complaints, name: str, dashboard: dict, dashboards: dict[str, dict]) -> None:
    links = dashboard.get("links", [])
    reached = set()
    for link in links:
        reached.add(check_target(complaints, f"{name}: link {link.get('title')!r}", link.get("url", ""), dashboards))
    # One that needs a plugin may not be there.
    for other in sorted(other for other in set(dashboards) - {name} if data_source(dashboards[other]) == PROMETHEUS):
        complaints.that(other in reached, f"{name}: no link to {other}")
    for panel in panels(dashboard):
        for link in data_links(panel):
            where = f"{name}: {panel.get('title')!r}: link {link.get('title')!r}"
            url = link.get("url", "")
            check_target(complaints, where, url, dashboards)
            raw = re.findall(r"\$\{__(?:data\.fields|field\.labels)\.\w+\}", url)
            complaints.that(not raw, f"{where}: {raw} must be percent-encoded, names may hold & and spaces")
            complaints.that("${__url_time_range}" in url, f"{where}: loses the time shown")
            for field in re.findall(r"\$\{__data\.fields\.(\w+)", url):
                complaints.that(field in columns(panel), f"{where}: no column {field}")
            for label in re.findall(r"\$\{__field\.labels\.(\w+)", url):
                found = all(label in labels_of(target.get("expr", "")) for target in panel.get("targets", []))
                complaints.that(found, f"{where}: no label {label}")


def check_target(complaints: Complaints, where: str, url: str, dashboards: dict[str, dict]) -> str:
    match = re.match(r"/d/([^/?]+)/([^/?]+)(?:\?(.*))?$", url)
    if not complaints.that(match, f"{where}: {url!r} is no address of a dashboard"):
        return ""
    uid, slug, query = match.groups()
    if not complaints.that(uid in dashboards, f"{where}: no dashboard {uid}"):
        return ""
    title = dashboards[uid].get("title", "")
    complaints.that(
        slug == re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-"), f"{where}: {slug} is not the slug of {title!r}"
    )
    known = {variable.get("name") for variable in variables(dashboards[uid])}
    given = re.findall(r"(?:^|&)var-(\w+)=", query or "") + re.findall(r"\$\{(\w+):queryparam\}", query or "")
    for variable in given:
        complaints.that(variable in known, f"{where}: {uid} has no variable {variable}")
    return uid


def check_annotations(complaints: Complaints, name: str, dashboard: dict) -> None:
    first = (dashboard.get("annotations", {}).get("list") or [{}])[0]
    complaints.that(first.get("builtIn") == 1, f"{name}: the built-in annotations must come first")
    for annotation in annotations(dashboard):
        where = f"{name}: annotation {annotation.get('name')!r}"
        expression = annotation.get("expr", "")
        same = expression == annotation.get("target", {}).get("expr")
        complaints.that(same, f"{where}: expr and target.expr differ: older and newer Grafana would show different things")
        complaints.that(annotation.get("useValueForTime") is True, f"{where}: the value is the time")
        complaints.that(expression.rstrip().endswith("* 1000"), f"{where}: the time must be in milliseconds")
        texts = annotation.get("titleFormat", "") + annotation.get("textFormat", "")
        labels = set(re.findall(r"\{\{\s*(\w+)\s*\}\}", texts)) | set(
            filter(None, annotation.get("tagKeys", "").split(","))
        )
        complaints.that(
            labels <= labels_of(expression),
            f"{where}: {sorted(labels - labels_of(expression))} is no label of its result",
        )


def check_panel(complaints: Complaints, where: str, panel: dict, dashboard: dict) -> None:
    kind = panel.get("type")
    for key in ("title", "description", "pluginVersion"):
        complaints.that(panel.get(key), f"{where}: no {key}")
    check_colors(complaints, where, panel)
    if kind == "text":
        content = panel.get("options", {}).get("content", "")
        complaints.that(not re.search(r"<\w+[^>]*>", content), f"{where}: HTML in a text")
        return
    defaults = panel.get("fieldConfig", {}).get("defaults", {})
    complaints.that(defaults.get("unit"), f"{where}: no unit")
    complaints.that(defaults.get("noValue"), f"{where}: no noValue, so that nothing looks like a failure")
    targets = panel.get("targets", [])
    complaints.that(targets, f"{where}: no query")
    ids = [target.get("refId") for target in targets]
    complaints.that(len(ids) == len(set(ids)), f"{where}: refIds are not unique")
    for target in targets:
        source = f"{where} {target.get('refId')}"
        complaints.that(target.get("datasource") == panel.get("datasource"), f"{source}: other data source than the panel")
        if data_source(dashboard) == INFINITY:
            check_infinity(complaints, source, target)
            named = target.get("format") == "table" or defaults.get("displayName") == "${__field.labels.city}"
            complaints.that(named, f"{source}: series would be called by their labels in braces, not by their city")
        elif data_source(dashboard) == PROMETHEUS:
            check_prometheus(complaints, source, target, kind)
    check_thresholds(complaints, where, panel)
    check_transformations(complaints, where, panel)
    check_overrides(complaints, where, panel)


def check_prometheus(complaints: Complaints, where: str, target: dict, kind: str) -> None:
    instant, ranged = target.get("instant"), target.get("range")
    complaints.that(bool(instant) != bool(ranged), f"{where}: either instant or range")
    charts = kind in ("timeseries", "state-timeline")
    complaints.that(not (charts and instant), f"{where}: a chart over time needs a range query")
    tabular = target.get("format") == "table"
    complaints.that(
        tabular == (kind in ("table", "barchart", "geomap") and bool(instant)),
        f"{where}: format {target.get('format')!r} does not fit a {kind}",
    )
    try:
        labels = labels_of(target.get("expr", ""))
    except PromQLError as error:
        complaints.that(False, f"{where}: {error}")
        return
    legend = target.get("legendFormat", "")
    wanted = set(re.findall(r"\{\{\s*(\w+)\s*\}\}", legend))
    complaints.that(wanted <= labels, f"{where}: {sorted(wanted - labels)} of the legend is no label of the result")
    complaints.that(tabular or legend, f"{where}: no legend, the series would be named by its query")
    complaints.that(
        "$city" not in target.get("expr", "").replace("${city:regex}", ""),
        f"{where}: $city must be `${{city:regex}}` in back-ticks",
    )
    raw = re.findall(r"city=~(?!`\$\{city:regex\}`)", target.get("expr", ""))
    complaints.that(not raw, f"{where}: names with quotes need city=~`${{city:regex}}` in back-ticks")


def check_infinity(complaints: Complaints, where: str, target: dict) -> None:
    unknown = set(target) - INFINITY_KEYS
    complaints.that(not unknown, f"{where}: {sorted(unknown)} is no key of an Infinity query")
    for key, wanted in {
        "type": "json",
        "source": "url",
        "parser": "backend",
        "url": "/history.json",
        "root_selector": "points",
    }.items():
        complaints.that(target.get(key) == wanted, f"{where}: {key} is {target.get(key)!r}, expected {wanted!r}")
    complaints.that(target.get("format") in ("timeseries", "table"), f"{where}: format {target.get('format')!r}")
    for column in target.get("columns", []):
        allowed = POINT_TYPES.get(column.get("selector"), set())
        complaints.that(column.get("type") in allowed, f"{where}: {column} does not fit the history document")
    for parameter in target.get("url_options", {}).get("params", []):
        complaints.that(
            parameter.get("key") in ("city", "limit", "since"), f"{where}: no parameter {parameter.get('key')!r}"
        )


def check_colors(complaints: Complaints, where: str, panel: dict) -> None:
    """Hexadecimal colours are the palette, which `scale.py` compares with the exporter; the rest follows the theme."""
    found = set(
        re.findall(r'"(?:color|fixedColor|lineColor|fillColor)": "([^"]*)"', canonical(panel.get("fieldConfig", {})))
    )
    odd = {
        color
        for color in found
        if color not in THEMED_COLORS | LINE_COLORS and not re.fullmatch(r"#[0-9A-F]{6}", color)
    }
    complaints.that(not odd, f"{where}: {sorted(odd)} does not follow the theme")
    for mapping in mappings(panel):
        results = (
            mapping["options"].values()
            if mapping.get("type") == "value"
            else [mapping.get("options", {}).get("result", {})]
        )
        bare = [result for result in results if result.get("color") and not result.get("text")]
        complaints.that(not bare, f"{where}: a colour without a word: {bare}")
        hexadecimal = mapping.get("type") == "range" and any(
            str(result.get("color")).startswith("#") for result in results
        )
        complaints.that(not hexadecimal, f"{where}: a category by range: a fractional index falls between two ranges")


def check_thresholds(complaints: Complaints, where: str, panel: dict) -> None:
    for _, name, value in field_settings(panel):
        if name == "thresholds":
            values = [step.get("value") for step in value.get("steps", [])]
            good = values[:1] == [None] and None not in values[1:] and values[1:] == sorted(set(values[1:]))
            complaints.that(good, f"{where}: steps must be null and then rise: {values}")


def columns(panel: dict) -> set[str]:
    """The columns of a table once its transformations have run, by the names that overrides match."""
    names: set[str] = set()
    targets = panel.get("targets", [])
    transformations = panel.get("transformations", [])
    for target in targets:
        if "columns" in target:
            names |= {column.get("text") for column in target["columns"]}
        elif target.get("instant"):
            names |= {"Time", "Value" if len(targets) == 1 else f"Value #{target.get('refId')}"} | labels_of(
                target.get("expr", "")
            )
        elif any(each.get("id") == "timeSeriesTable" for each in transformations):
            names |= {f"Trend #{target.get('refId')}"} | labels_of(target.get("expr", ""))
    for each in transformations:
        options = each.get("options", {})
        if each.get("id") == "filterFieldsByName" and "include" in options:
            names = {name for name in names if re.search(options["include"].get("pattern", ""), name)}
        if each.get("id") == "organize":
            names -= {name for name, gone in options.get("excludeByName", {}).items() if gone}
            names = {options.get("renameByName", {}).get(name, name) for name in names}
    return names


def check_transformations(complaints: Complaints, where: str, panel: dict) -> None:
    ids = {target.get("refId") for target in panel.get("targets", [])}
    for each in panel.get("transformations", []):
        kind, options = each.get("id"), each.get("options", {})
        if not complaints.that(kind in TRANSFORMATIONS, f"{where}: no transformation {kind!r} is known here"):
            continue
        allowed = ids if kind == "timeSeriesTable" else TRANSFORMATIONS[kind]
        complaints.that(set(options) <= allowed, f"{where}: {kind}: {sorted(set(options) - allowed)} is no option")
        if kind == "timeSeriesTable":
            # Without the filter it turns every frame with a time and a number into a sparkline.
            filtered = each.get("filter", {}).get("options") in ids
            complaints.that(filtered, f"{where}: timeSeriesTable must be filtered to the query it is for")
        if kind == "joinByField":
            joined = [labels_of(target.get("expr", "")) for target in panel.get("targets", [])]
            complaints.that(
                all(labels == {options.get("byField")} for labels in joined),
                f"{where}: every query must leave {options.get('byField')!r} only, not {joined}",
            )
        if kind == "convertFieldType":
            converted = {conversion.get("targetField") for conversion in options.get("conversions", [])}
            complaints.that(converted <= columns(panel), f"{where}: converts {sorted(converted - columns(panel))}")
        if kind == "organize":
            names = columns(
                {**panel, "transformations": panel["transformations"][: panel["transformations"].index(each)]}
            )
            named = (
                set(options.get("indexByName", {}))
                | set(options.get("excludeByName", {}))
                | set(options.get("renameByName", {}))
            )
            complaints.that(named <= names, f"{where}: organize names {sorted(named - names)}, there is no such column")


def check_overrides(complaints: Complaints, where: str, panel: dict) -> None:
    kind = panel.get("type")
    overrides = panel.get("fieldConfig", {}).get("overrides", [])
    tabular = kind in ("table", "barchart", "geomap")
    names = columns(panel) if tabular else {target.get("legendFormat") for target in panel.get("targets", [])}
    for override in overrides:
        matcher, options = override.get("matcher", {}).get("id"), override.get("matcher", {}).get("options")
        if matcher == "byName":
            complaints.that(options in names, f"{where}: override for {options!r}, there is only {sorted(map(str, names))}")
        elif matcher == "byFrameRefID":
            ids = {target.get("refId") for target in panel.get("targets", [])}
            complaints.that(options in ids, f"{where}: override for query {options!r}, there is only {sorted(ids)}")
        else:
            complaints.that(False, f"{where}: matcher {matcher!r} is not known here")
    if not tabular:
        return
    display = {
        one["value"]
        for override in overrides
        for one in override.get("properties", [])
        if one.get("id") == "displayName"
    }
    renamed = {
        o["matcher"]["options"] for o in overrides if any(p.get("id") == "displayName" for p in o.get("properties", []))
    }
    shown = display | (names - renamed)
    for sort in panel.get("options", {}).get("sortBy", []):
        complaints.that(
            sort.get("displayName") in shown,
            f"{where}: sorted by {sort.get('displayName')!r}, there is only {sorted(shown)}",
        )
    if kind == "barchart":
        across = panel.get("options", {}).get("xField")
        complaints.that(across in names, f"{where}: no column {across!r} to draw along, there is only {sorted(names)}")
