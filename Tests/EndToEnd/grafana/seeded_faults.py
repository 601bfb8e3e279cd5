"""Faults put into copies of the real dashboards, each of which a named check must find."""

from collections.abc import Callable
from dataclasses import dataclass

from grafana.dashboards import annotations, field_settings, panel_titled, variables

Dashboard = dict


@dataclass
class Fault:
    check: str
    """The check that must find it, by its name in the tests."""
    dashboard: str
    name: str
    seed: Callable[[Dashboard], object]
    complaint: str
    """A part of what the check must say."""


def target(dashboard: Dashboard, title: str, ref: str = "A") -> dict:
    return next(each for each in panel_titled(dashboard, title)["targets"] if each["refId"] == ref)


def rewrite(title: str, old: str, new: str, ref: str = "A") -> Callable[[Dashboard], None]:
    def seed(dashboard: Dashboard) -> None:
        query = target(dashboard, title, ref)
        assert old in query["expr"], f"{old!r} is not in {query['expr']!r}"
        query["expr"] = query["expr"].replace(old, new)

    return seed


def setting(dashboard: Dashboard, title: str, name: str, where: str = "defaults"):
    return next(
        value for place, key, value in field_settings(panel_titled(dashboard, title)) if (place, key) == (where, name)
    )


def variable(dashboard: Dashboard, name: str) -> dict:
    return next(each for each in variables(dashboard) if each["name"] == name)


def override(dashboard: Dashboard, title: str, matched: str) -> dict:
    overrides = panel_titled(dashboard, title)["fieldConfig"]["overrides"]
    return next(each for each in overrides if each["matcher"]["options"] == matched)


def reword_annotation(old: str, new: str) -> Callable[[Dashboard], None]:
    def seed(dashboard: Dashboard) -> None:
        annotation = annotations(dashboard)[0]
        for holder in (annotation, annotation["target"]):
            assert old in holder["expr"]
            holder["expr"] = holder["expr"].replace(old, new)

    return seed


def relink(title: str, old: str, new: str) -> Callable[[Dashboard], None]:
    def seed(dashboard: Dashboard) -> None:
        link = setting(dashboard, title, "links")[0]
        assert old in link["url"]
        link["url"] = link["url"].replace(old, new)

    return seed


def panel(title: str, change: Callable[[dict], object]) -> Callable[[Dashboard], object]:
    return lambda dashboard: change(panel_titled(dashboard, title))


LIST, LINE, POINTS = "Cities, worst first", "Index over time", "Points of the city"
OVERVIEW, CITY, HISTORY, EXPORTER = "aqi-overview", "aqi-city", "aqi-history", "aqi-exporter"

FAULTS = [
    # Types and enumerations.
    Fault(
        "types",
        OVERVIEW,
        "a mistyped option",
        panel(LIST, lambda p: p["options"].update(showHeadder=True)),
        "showHeadder: no such key",
    ),
    Fault(
        "types",
        OVERVIEW,
        "a value outside of its enumeration",
        panel("Worst city", lambda p: p["options"].update(colorMode="backgroud")),
        "'backgroud', expected one of",
    ),
    Fault(
        "types",
        OVERVIEW,
        "a number as text",
        panel("Cities", lambda p: p["gridPos"].update(h="4")),
        "'4', expected int",
    ),
    Fault(
        "types",
        CITY,
        "a unit that Grafana does not know",
        panel(LINE, lambda p: p["fieldConfig"]["defaults"].update(unit="second")),
        "'second' is no unit",
    ),
    Fault(
        "types",
        OVERVIEW,
        "a mistyped property of an override",
        lambda d: override(d, LIST, "Value #B")["properties"][1].update(id="custom.widht"),
        "custom.widht: no such key",
    ),
    Fault(
        "types",
        OVERVIEW,
        "an unknown kind of cell",
        lambda d: setting(d, LIST, "custom.cellOptions", "Value #C").update(type="colour-background"),
        "cellOptions",
    ),
    Fault(
        "types",
        EXPORTER,
        "an unknown kind of panel",
        panel("Memory", lambda p: p.update(type="timeserie")),
        "'timeserie' is no panel type",
    ),
    Fault("types", CITY, "refresh as a truth value", lambda d: d.update(refresh=True), "refresh"),
    Fault(
        "types",
        CITY,
        "a query with a mistyped key",
        lambda d: target(d, LINE).update(legend="x"),
        "legend: no such key",
    ),
    Fault(
        "types",
        CITY,
        "a variable without a current value",
        lambda d: variable(d, "job")["current"].pop("value"),
        "needs current.text and current.value",
    ),
    # Structure.
    Fault(
        "structure", OVERVIEW, "two panels with one id", panel("Cities", lambda p: p.update(id=1)), "ids are not unique"
    ),
    Fault(
        "structure", OVERVIEW, "one panel on another", panel("Cities", lambda p: p["gridPos"].update(x=3)), "lies on"
    ),
    Fault(
        "structure",
        OVERVIEW,
        "a panel beyond the edge",
        panel("Source", lambda p: p["gridPos"].update(w=5)),
        "leaves the grid",
    ),
    Fault(
        "structure",
        CITY,
        "panels in a row that is open",
        lambda d: next(p for p in d["panels"] if p["type"] == "row").update(collapsed=False),
        "only a collapsed row",
    ),
    Fault("structure", CITY, "a changed uid", lambda d: d.update(uid="AQI-City"), "bad uid"),
    Fault(
        "structure",
        CITY,
        "inputs, which break provisioning",
        lambda d: d.update(__inputs=[]),
        "__inputs breaks provisioning",
    ),
    Fault(
        "structure",
        OVERVIEW,
        "a refresh that Grafana refuses",
        lambda d: d.update(refresh="1s"),
        "below Grafana's least",
    ),
    Fault(
        "structure",
        CITY,
        "a variable that is not defined",
        rewrite(LINE, "$instance", "$instanz"),
        "$instanz is used but not defined",
    ),
    Fault(
        "structure",
        CITY,
        "a variable that nothing uses",
        lambda d: d["templating"]["list"].append({"type": "textbox", "name": "spare"}),
        "$spare is defined but not used",
    ),
    Fault(
        "structure",
        OVERVIEW,
        "a link to no dashboard",
        relink("Worst city", "/d/aqi-city/", "/d/aqi-town/"),
        "no dashboard aqi-town",
    ),
    Fault(
        "structure",
        OVERVIEW,
        "a link with an unknown variable",
        relink("Worst city", "var-city", "var-town"),
        "has no variable town",
    ),
    Fault(
        "structure",
        OVERVIEW,
        "a city that is not percent-encoded",
        relink("Worst city", ":percentencode", ""),
        "must be percent-encoded",
    ),
    Fault(
        "structure",
        OVERVIEW,
        "a link that loses the time",
        relink("Worst city", "&${__url_time_range}", ""),
        "loses the time",
    ),
    Fault("structure", EXPORTER, "no way to another dashboard", lambda d: d["links"].pop(0), "no link to aqi-overview"),
    Fault(
        "structure",
        OVERVIEW,
        "an override for no column",
        lambda d: override(d, LIST, "Value #F")["matcher"].update(options="Value #Z"),
        "override for 'Value #Z'",
    ),
    Fault(
        "structure",
        OVERVIEW,
        "a coordinate that no query has",
        rewrite("Map", "by (city, latitude, longitude)", "by (city, longitude)"),
        "converts ['latitude']",
    ),
    Fault(
        "structure",
        OVERVIEW,
        "sorted by no column",
        panel(LIST, lambda p: p["options"]["sortBy"][0].update(displayName="Index")),
        "sorted by 'Index'",
    ),
    Fault(
        "structure",
        OVERVIEW,
        "an unknown transformation",
        panel(LIST, lambda p: p["transformations"][1].update(id="joinByFeild")),
        "no transformation 'joinByFeild'",
    ),
    Fault(
        "structure",
        OVERVIEW,
        "sparklines out of everything",
        panel(LIST, lambda p: p["transformations"][0].pop("filter")),
        "must be filtered",
    ),
    Fault(
        "structure",
        OVERVIEW,
        "a join that collides",
        rewrite(LIST, "by (city)", "by (city, instance)", "C"),
        "must leave 'city' only",
    ),
    Fault(
        "structure",
        OVERVIEW,
        "a column order for no column",
        panel(LIST, lambda p: p["transformations"][3]["options"]["indexByName"].update({"Value #X": 9})),
        "there is no such column",
    ),
    Fault(
        "structure",
        CITY,
        "an annotation that old and new Grafana read differently",
        lambda d: annotations(d)[0]["target"].update(expr="up"),
        "expr and target.expr differ",
    ),
    Fault("structure", CITY, "an annotation in seconds", reword_annotation(" * 1000", ""), "must be in milliseconds"),
    Fault(
        "structure",
        CITY,
        "a legend of a label that is gone",
        lambda d: target(d, LINE).update(legendFormat="{{town}}"),
        "['town'] of the legend",
    ),
    Fault(
        "structure",
        CITY,
        "a name that is not safe in its query",
        rewrite(LINE, "`${city:regex}`", '"$city"'),
        "in back-ticks",
    ),
    Fault(
        "structure",
        CITY,
        "a chart over time of one instant",
        lambda d: target(d, LINE).update(instant=True, range=False),
        "needs a range query",
    ),
    Fault(
        "structure",
        CITY,
        "a panel that says nothing when empty",
        panel(LINE, lambda p: p["fieldConfig"]["defaults"].pop("noValue")),
        "no noValue",
    ),
    Fault(
        "structure",
        CITY,
        "a colour that does not follow the theme",
        lambda d: setting(d, "Last change", "mappings")[0]["options"]["1"].update(color="dark-green"),
        "does not follow the theme",
    ),
    Fault(
        "structure",
        CITY,
        "a colour without a word",
        lambda d: setting(d, "Category", "mappings")[0]["options"]["1"].update(text=""),
        "a colour without a word",
    ),
    Fault(
        "structure",
        CITY,
        "thresholds out of order",
        lambda d: setting(d, LINE, "thresholds")["steps"].reverse(),
        "must be null and then rise",
    ),
    Fault(
        "structure",
        CITY,
        "HTML",
        panel("The scale in words", lambda p: p["options"].update(content='<font color="red">bad</font>')),
        "HTML in a text",
    ),
    Fault(
        "structure",
        HISTORY,
        "an epoch under the type of a date",
        lambda d: target(d, POINTS)["columns"][0].update(selector="time_ms"),
        "does not fit the history document",
    ),
    Fault(
        "structure",
        HISTORY,
        "a mistyped key of an Infinity query",
        lambda d: target(d, POINTS).update(rootSelector="points"),
        "['rootSelector'] is no key",
    ),
    Fault(
        "structure",
        HISTORY,
        "series without a name",
        panel(POINTS, lambda p: p["fieldConfig"]["defaults"].pop("displayName")),
        "not by their city",
    ),
    # The linter's rules.
    Fault(
        "linter",
        OVERVIEW,
        "a hard-coded data source",
        panel("Cities", lambda p: p["datasource"].update(uid="PBFA97CFB590B2093")),
        "panel-datasource-rule",
    ),
    Fault(
        "linter",
        OVERVIEW,
        "a panel without a description",
        panel("Cities", lambda p: p.update(description="")),
        "panel-title-description-rule",
    ),
    Fault(
        "linter",
        OVERVIEW,
        "a panel without a unit",
        panel("Cities", lambda p: p["fieldConfig"]["defaults"].pop("unit")),
        "panel-units-rule",
    ),
    Fault(
        "linter", OVERVIEW, "a lost matcher", rewrite("Cities", ', instance=~"$instance"', ""), "target-instance-rule"
    ),
    Fault(
        "linter",
        EXPORTER,
        "a rate over a fixed range",
        rewrite("CPU", "$__rate_interval", "5m"),
        "target-rate-interval-rule",
    ),
    Fault(
        "linter",
        EXPORTER,
        "a counter without a rate",
        rewrite("Expired cities", "increase(", "("),
        "target-counter-agg-rule",
    ),
    Fault("linter", EXPORTER, "a bracket too few", rewrite("Memory", "})", "}"), "target-promql-rule"),
    Fault("linter", CITY, "an editable dashboard", lambda d: d.update(editable=True), "uneditable-dashboard"),
    Fault(
        "linter",
        CITY,
        "a variable that misses new cities",
        lambda d: variable(d, "city").update(refresh=1),
        "template-on-time-change-reload-rule",
    ),
    Fault(
        "linter", CITY, "All that is not everything", lambda d: variable(d, "job").pop("allValue"), "template-job-rule"
    ),
    Fault(
        "linter",
        CITY,
        "a variable that is no label_values",
        lambda d: variable(d, "city")["query"].update(query="cities()"),
        "template-label-promql-rule",
    ),
    # The scale of the exporter.
    Fault(
        "scale",
        CITY,
        "a boundary of another scale",
        lambda d: setting(d, LINE, "thresholds")["steps"][1].update(value=50),
        "bands",
    ),
    Fault(
        "scale",
        CITY,
        "another spelling",
        lambda d: setting(d, "Category", "mappings")[0]["options"]["5"].update(text="🤢 Very poor"),
        "maps",
    ),
    Fault(
        "scale",
        OVERVIEW,
        "a colour of another palette",
        lambda d: setting(d, LIST, "mappings", "Value #C")[0]["options"]["1"].update(color="#00E400"),
        "no colour of the scale",
    ),
    Fault(
        "scale",
        OVERVIEW,
        "one category shown as another",
        rewrite("Cities per category", "== bool 2", "== bool 3", "B"),
        "asks for category 3",
    ),
    Fault(
        "scale",
        CITY,
        "a boundary in words",
        panel(
            "The scale in words",
            lambda p: p["options"].update(content=p["options"]["content"].replace("| 51 to", "| 50 to")),
        ),
        "says",
    ),
    Fault(
        "scale",
        CITY,
        "another hint in words than on the tile",
        panel(
            "The scale in words",
            lambda p: p["options"].update(content=p["options"]["content"].replace("Minimal impact", "No impact")),
        ),
        "different sets of health hints",
    ),
    # Names in the exposition.
    Fault(
        "metrics",
        OVERVIEW,
        "a metric that nobody exposes",
        rewrite("Cities", "airquality_index", "air_quality_index"),
        "nobody exposes air_quality_index",
    ),
    Fault(
        "metrics",
        CITY,
        "a record that no rule makes",
        rewrite("Average of a day", ":avg1d", ":mean1d"),
        "nobody exposes",
    ),
    # Against Prometheus.
    Fault(
        "queries",
        CITY,
        "an aggregation without brackets",
        rewrite("Lowest, average and highest", "min by (city) (", "min by (city) ((", "A"),
        "parse error",
    ),
    Fault("queries", CITY, "a name in double quotes", rewrite(LINE, "`${city:regex}`", '"$city"'), 'The "Quoted" Town'),
    Fault(
        "queries",
        CITY,
        "a name that is not taken literally",
        rewrite(LINE, "=~`${city:regex}`", "=~`.*${city:regex}.*|Delhi`"),
        "shows",
    ),
    Fault(
        "queries",
        OVERVIEW,
        "a label that leaks",
        rewrite("Worst city", "max by (city) ", ""),
        "labels ['city', 'instance', 'job']",
    ),
    Fault(
        "queries",
        OVERVIEW,
        "a label that does not exist",
        rewrite("Category of each city over time", "by (city)", "by (town)"),
        "labels",
    ),
    Fault(
        "queries",
        OVERVIEW,
        "a query that finds nothing",
        rewrite("Cities compared", "airquality_index{", 'airquality_index{city="",'),
        "empty",
    ),
    Fault("queries", OVERVIEW, "seconds for milliseconds", rewrite(LIST, " * 1000", "", "E"), "wants milliseconds"),
    Fault("queries", OVERVIEW, "a time instead of an age", rewrite(LIST, "time() - ", "", "F"), "are no seconds"),
    Fault(
        "queries",
        OVERVIEW,
        "a state without a word",
        lambda d: setting(d, "Feed", "mappings")[0]["options"].pop("1"),
        "has no word in the mapping",
    ),
    Fault(
        "queries", EXPORTER, "percent for a share", rewrite("Cities, of the limit", "max(", "1e6 * max("), "is no share"
    ),
    Fault(
        "queries",
        CITY,
        "a variable of a label that does not exist",
        lambda d: variable(d, "city")["query"].update(
            query='label_values(airquality_index{job=~"$job", instance=~"$instance"}, town)'
        ),
        "$city: offers []",
    ),
    Fault(
        "queries",
        CITY,
        "an annotation that never comes",
        reword_annotation("== 1", "== 2"),
        "annotation 'Got better' for all cities: empty",
    ),
    Fault("queries", CITY, "an annotation off in time", reword_annotation("* 1000", "* 10"), "not milliseconds"),
    # Against the history document.
    Fault(
        "history",
        HISTORY,
        "a root that another parser would want",
        lambda d: target(d, POINTS).update(root_selector="$.points"),
        "0 points",
    ),
    Fault(
        "history",
        HISTORY,
        "a type that finds nothing",
        lambda d: target(d, POINTS)["columns"][0].update(selector="time_ms"),
        "a column finds nothing",
    ),
    Fault(
        "history", HISTORY, "no text column, so no series", lambda d: target(d, POINTS)["columns"].pop(1), "stays long"
    ),
    Fault(
        "history",
        HISTORY,
        "always the same city",
        lambda d: target(d, POINTS)["url_options"]["params"][0].update(value="Delhi"),
        "series",
    ),
    Fault(
        "history",
        HISTORY,
        "fewer points than there are",
        lambda d: target(d, POINTS)["url_options"]["params"].append({"key": "limit", "value": "10"}),
        "10 points",
    ),
]
