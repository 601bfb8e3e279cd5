"""The parts of Grafana's classic dashboard model (schemaVersion 41) that the dashboards use: names, types, choices.

A shape is a type, a set of choices, a list of a shape, or a dictionary; a name that ends in `?` may be missing."""

DATA_SOURCE = {"type": {"prometheus", "grafana"}, "uid": {"${datasource}", "-- Grafana --"}}
COLOR = {"mode": {"thresholds", "fixed", "shades"}, "fixedColor?": str}
STEPS = {"mode": {"absolute"}, "steps": [{"value": (int, type(None)), "color": str}]}
MAPPINGS = [{"type": {"value"}, "options": dict}]
LINKS = [{"title": str, "url": str, "targetBlank": bool}]
HIDE = {"legend": bool, "tooltip": bool, "viz": bool}
LEGEND = {"displayMode": {"list", "table"}, "placement": {"bottom", "right"}, "showLegend": bool,
          "calcs": [{"min", "mean", "max", "lastNotNull"}]}  # fmt: skip
TOOLTIP = {"mode": {"single", "multi"}, "sort": {"none", "desc"}, "hideZeros": bool}

TARGET = {
    "refId": str, "datasource": DATA_SOURCE, "editorMode": {"code"}, "expr": str, "format": {"time_series", "table"},
    "instant": bool, "range": bool, "exemplar": bool, "legendFormat?": str, "interval?": str,
}  # fmt: skip
TRANSFORMATION = {
    "id": {"timeSeriesTable", "joinByField", "filterFieldsByName", "organize", "convertFieldType"},
    "filter?": {"id": {"byRefId"}, "options": str}, "options": dict,
}  # fmt: skip
CELL = {"type": {"auto", "color-text", "color-background", "sparkline"}, "mode?": {"basic"}, "hideValue?": bool,
        "lineWidth?": int, "fillOpacity?": int, "gradientMode?": {"none"}, "lineInterpolation?": {"linear"},
        "showPoints?": {"never"}}  # fmt: skip
CUSTOM = {
    "stat": {},
    "geomap": {},
    "table": {"align": {"auto", "left"}, "cellOptions": CELL, "width": int},
    "state-timeline": {"lineWidth": int, "fillOpacity": int, "spanNulls": int, "insertNulls": bool, "hideFrom": HIDE},
    "timeseries": {
        "drawStyle": {"line", "bars"}, "lineWidth": int, "lineInterpolation": {"linear"}, "fillOpacity": int,
        "gradientMode": {"none"}, "showPoints": {"auto", "never"}, "pointSize": int, "spanNulls": (bool, int),
        "insertNulls": bool, "axisPlacement": {"auto"}, "axisLabel": str, "axisColorMode": {"text"},
        "axisBorderShow": bool, "axisCenteredZero": bool, "axisSoftMin": int, "axisSoftMax": (int, float),
        "scaleDistribution": {"type": {"linear"}}, "stacking": {"mode": {"none", "normal"}, "group": str},
        "thresholdsStyle": {"mode": {"off", "area"}}, "hideFrom": HIDE,
    },
}  # fmt: skip
FIELD = {
    "noValue": str, "mappings": MAPPINGS, "color": COLOR, "thresholds": STEPS, "links": LINKS, "displayName": str,
    "unit": {"none", "short", "s", "bytes", "percentunit"}, "decimals": int, "min": int,
}  # fmt: skip
OPTIONS = {
    "stat": {
        "graphMode": {"none"}, "colorMode": {"none", "value", "background_solid"}, "justifyMode": {"auto", "center"},
        "textMode": {"auto", "value", "name", "value_and_name"}, "wideLayout": bool, "showPercentChange": bool,
        "percentChangeColorMode": {"standard"}, "orientation": {"auto", "vertical"},
        "reduceOptions": {"values": bool, "calcs": [{"lastNotNull"}], "fields": str},
        "text?": {"titleSize": int, "valueSize?": int},
    },
    "table": {"showHeader": bool, "cellHeight": {"sm"}, "sortBy?": [{"displayName": str, "desc": bool}]},
    "timeseries": {"legend": LEGEND, "tooltip": TOOLTIP},
    "state-timeline": {"mergeValues": bool, "showValue": {"auto"}, "alignValue": {"left"}, "rowHeight": float,
                       "legend": LEGEND, "tooltip": TOOLTIP, "perPage?": int},
    "geomap": {"view": dict, "controls": dict, "basemap": dict, "layers": list, "tooltip": {"mode": {"details"}}},
}  # fmt: skip
GRID = {"x": int, "y": int, "w": int, "h": int}
ROW = {"id": int, "type": {"row"}, "title": str, "collapsed": {True}, "gridPos": GRID, "panels": list}
VARIABLE = {
    "type": {"datasource", "query"}, "name": str, "label": str, "query": (str, dict), "regex": str, "refresh": {1, 2},
    "multi": bool, "includeAll": bool, "hide": {0}, "options": list, "current": dict, "datasource?": DATA_SOURCE,
    "definition?": str, "sort?": {1}, "allValue?": str,
}  # fmt: skip
ANNOTATION = {
    "name": str, "datasource": DATA_SOURCE, "enable": bool, "hide": bool, "iconColor": str, "type?": {"dashboard"},
    "builtIn?": {1}, "expr?": str, "step?": str, "titleFormat?": str, "textFormat?": str, "tagKeys?": str,
    "useValueForTime?": {True}, "target?": dict,
}  # fmt: skip
LINK = {"type": {"dashboards"}, "title": str, "tags": [str], "asDropdown": bool, "includeVars": bool, "keepTime": bool,
        "targetBlank": bool, "icon": {"external link"}, "tooltip": str, "url": str}  # fmt: skip
DASHBOARD = {
    "id": type(None), "uid": str, "title": str, "description": str, "tags": [str], "timezone": {"browser"},
    "editable": bool, "graphTooltip": {1}, "refresh": str, "time": {"from": str, "to": str}, "timepicker": dict,
    "fiscalYearStartMonth": int, "weekStart": str, "preload": bool, "schemaVersion": {41}, "version": int,
    "links": [LINK], "annotations": {"list": [ANNOTATION]}, "templating": {"list": [VARIABLE]}, "panels": list,
}  # fmt: skip


def panel_shape(type: str) -> dict:
    """Of a panel that is no row."""
    field = {f"{name}?": shape for name, shape in FIELD.items()}
    custom = {f"{name}?": shape for name, shape in CUSTOM[type].items()}
    return {
        "id": int, "type": str, "title": str, "description": str, "pluginVersion": str, "datasource": DATA_SOURCE,
        "gridPos": GRID, "targets": [TARGET], "transformations?": [TRANSFORMATION], "options": OPTIONS[type],
        "fieldConfig": {
            "defaults": field | {"custom?": custom},
            "overrides": [{"matcher": {"id": {"byName", "byRegexp", "byFrameRefID"}, "options": str},
                           "properties": [{"id": str, "value": object}]}],
        },
    }  # fmt: skip


def property_shape(type: str, name: str) -> object:
    """What an override may set: the fields of the defaults, by their path."""
    return CUSTOM[type][name.removeprefix("custom.")] if name.startswith("custom.") else FIELD[name]


def complaints(value, shape, where: str) -> list[str]:
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return [f"{where}: {value!r} is no object"]
        names = {name.removesuffix("?"): inner for name, inner in shape.items()}
        required = {name for name in shape if not name.endswith("?")}
        found = [f"{where}: {name} is unknown" for name in value.keys() - names.keys()]
        found += [f"{where}: {name} is missing" for name in required - value.keys()]
        known = value.keys() & names.keys()
        return found + [each for name in known for each in complaints(value[name], names[name], f"{where}.{name}")]
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{where}: {value!r} is no array"]
        return [each for index, one in enumerate(value) for each in complaints(one, shape[0], f"{where}[{index}]")]
    if isinstance(shape, set):
        is_good = any(value == choice and isinstance(value, type(choice)) for choice in shape)
        return [] if is_good else [f"{where}: {value!r} is none of {sorted(map(str, shape))}"]
    is_good = isinstance(value, shape) and (not isinstance(value, bool) or shape in (bool, object) or bool in shape)
    return [] if is_good else [f"{where}: {value!r} is no {shape}"]
