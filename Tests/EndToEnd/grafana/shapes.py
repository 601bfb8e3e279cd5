"""The parts of Grafana's classic dashboard model (schemaVersion 41) that the dashboards use.

A shape is `type name name?; type name …`, where `?` means that it may be missing. `CHOICES` are the
words that Grafana knows for names with a fixed set of them."""

TYPES = {
    "str": str,
    "int": int,
    "bool": bool,
    "number": (int, float),
    "list": list,
    "dict": dict,
    "any": object,
    "null": type(None),
}
DASHBOARD = """null id; str uid title description timezone refresh weekStart;
    list tags links panels; bool editable preload;
    int graphTooltip fiscalYearStartMonth schemaVersion version;
    dict time timepicker annotations templating"""
LINK = """str type title icon tooltip url; list tags;
    bool asDropdown includeVars keepTime targetBlank"""
ANNOTATION = """str name iconColor expr step titleFormat textFormat tagKeys;
    dict datasource target; bool enable hide useValueForTime"""
VARIABLE = """str type name label regex definition? allValue?; any query; int refresh hide sort?;
    bool multi includeAll; list options; dict current datasource?"""
ROW = "int id; str type title; bool collapsed; dict gridPos; list panels"
PANEL = """int id; str type title description pluginVersion; dict datasource gridPos fieldConfig
    options; list targets transformations?"""
TARGET = """str refId editorMode expr format legendFormat? interval?; dict datasource;
    bool instant range exemplar"""
TRANSFORMATION = "str id; dict options filter?"
FIELD = """str noValue? unit? displayName?; list mappings? links?; dict color? thresholds? custom?;
    int decimals? min?"""
COLOR = "str mode fixedColor?"
CELL = """str type mode? gradientMode? lineInterpolation? showPoints?; bool hideValue?;
    int lineWidth? fillOpacity?"""
CUSTOM = {
    "stat": "",
    "geomap": "",
    "table": "str align?; dict cellOptions?; int width?",
    "state-timeline": "int lineWidth? fillOpacity? spanNulls?; bool insertNulls?; dict hideFrom?",
    "timeseries": """str drawStyle? lineInterpolation? gradientMode? showPoints? axisPlacement?
        axisLabel? axisColorMode?; int lineWidth? fillOpacity? pointSize?; any spanNulls?;
        bool insertNulls? axisBorderShow? axisCenteredZero?; number axisSoftMin? axisSoftMax?;
        dict scaleDistribution? stacking? thresholdsStyle? hideFrom?""",
}
OPTIONS = {
    "stat": """str graphMode colorMode justifyMode textMode percentChangeColorMode orientation;
        bool wideLayout showPercentChange; dict reduceOptions text?""",
    "table": "bool showHeader; str cellHeight; list sortBy?",
    "timeseries": "dict legend tooltip",
    "state-timeline": """bool mergeValues; str showValue alignValue; number rowHeight;
        dict legend tooltip; int perPage?""",
    "geomap": "dict view controls basemap tooltip; list layers",
}
CHOICES = {
    "editorMode": {"code"},
    "format": {"time_series", "table"},
    "drawStyle": {"line", "bars"},
    "lineInterpolation": {"linear"},
    "gradientMode": {"none"},
    "showPoints": {"auto", "never"},
    "graphMode": {"none"},
    "colorMode": {"none", "value", "background_solid"},
    "justifyMode": {"auto", "center"},
    "textMode": {"auto", "value", "name", "value_and_name"},
    "orientation": {"auto", "vertical"},
    "cellHeight": {"sm"},
    "align": {"auto", "left"},
    "displayMode": {"list", "table"},
    "placement": {"bottom", "right"},
    "unit": {"none", "short", "s", "bytes", "percentunit"},
    "timezone": {"browser"},
}
TRANSFORMATIONS = {
    "timeSeriesTable",
    "joinByField",
    "filterFieldsByName",
    "organize",
    "convertFieldType",
}
CELLS = {"auto", "color-text", "color-background", "sparkline"}
COLORS = {"thresholds", "fixed", "shades"}


def complaints(value: dict, shape: str, where: str) -> list[str]:
    """What does not fit: an unknown or missing name, another type, an unknown word."""
    kinds, required = {}, set()
    for part in filter(str.strip, shape.split(";")):
        kind, *names = part.split()
        kinds |= {name.removesuffix("?"): TYPES[kind] for name in names}
        required |= {name for name in names if not name.endswith("?")}
    found = [f"{where}: {name} is unknown" for name in value.keys() - kinds.keys()]
    found += [f"{where}: {name} is missing" for name in required - value.keys()]
    for name in value.keys() & kinds.keys():
        kind, one = kinds[name], value[name]
        is_truth = isinstance(one, bool) and kind not in (bool, object)
        if is_truth or not isinstance(one, kind) or one not in CHOICES.get(name, [one]):
            found.append(f"{where}: {name} is {one!r}")
    return found


def panel_complaints(panel: dict) -> list[str]:
    """Of a panel that is no row, with all that is in it."""
    where, kind = panel["title"], panel["type"]
    found = complaints(panel, PANEL, where)
    found += complaints(panel["options"], OPTIONS[kind], where)
    for target in panel["targets"]:
        found += complaints(target, TARGET, where)
    for transformation in panel.get("transformations", []):
        found += complaints(transformation, TRANSFORMATION, where)
        if transformation["id"] not in TRANSFORMATIONS:
            found.append(f"{where}: transformation {transformation['id']}")
    for field in fields(panel):
        found += complaints(field, FIELD, where)
        found += complaints(field.get("custom", {}), CUSTOM[kind], where)
        color, cell = (
            field.get("color", {"mode": "fixed"}),
            field.get("custom", {}).get("cellOptions"),
        )
        found += complaints(color, COLOR, where)
        found += complaints(cell or {"type": "auto"}, CELL, where)
        if color["mode"] not in COLORS or (cell or {"type": "auto"})["type"] not in CELLS:
            found.append(f"{where}: {color} or {cell}")
    return found


def fields(panel: dict) -> list[dict]:
    """The defaults of its fields, and each override as if it were some."""
    found = [panel["fieldConfig"]["defaults"]]
    for override in panel["fieldConfig"]["overrides"]:
        field: dict = {"custom": {}}
        for one in override["properties"]:
            name = one["id"].removeprefix("custom.")
            (field if name == one["id"] else field["custom"])[name] = one["value"]
        found.append(field)
    return found
