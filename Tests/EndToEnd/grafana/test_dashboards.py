"""The dashboards as files: Grafana can load them, and their parts fit. They are not rendered."""

import itertools
import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from grafana.dashboards import (
    DASHBOARDS,
    JOB,
    PANELS,
    ROOT,
    annotations,
    interpolated,
    panel_titled,
    panels,
    settings,
    variables,
)
from grafana.rules import ALERTS
from support.commands import run

each_dashboard = pytest.mark.parametrize("name", DASHBOARDS)
each_panel = pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])


def test_the_three_dashboards_have_the_ids_that_links_and_bookmarks_use():
    assert {name: dashboard["uid"] for name, dashboard in DASHBOARDS.items()} == {
        "air-quality": "aqi-overview",
        "air-quality-city": "aqi-city",
        "air-quality-exporter": "aqi-exporter",
    }
    page = (ROOT / "Sources/Exporter/Page/Page+city.swift").read_text()
    assert "/d/aqi-city?var-city=" in page
    begins = {dashboard["uid"]: dashboard["time"]["from"] for dashboard in DASHBOARDS.values()}
    assert begins == {"aqi-overview": "now-24h", "aqi-city": "now-24h", "aqi-exporter": "now-1h"}


@each_dashboard
def test_panels_have_unique_ids_and_do_not_overlap(name):
    dashboard = DASHBOARDS[name]
    rows = [panel for panel in dashboard["panels"] if panel["type"] == "row"]
    ids = [panel["id"] for panel in [*panels(dashboard), *rows]]
    assert len(set(ids)) == len(ids)
    for group in (dashboard["panels"], *(row["panels"] for row in rows)):
        cells = [cell for panel in group for cell in covered(panel["gridPos"])]
        assert len(set(cells)) == len(cells)
        assert all(x < 24 for x, _ in cells)


def covered(grid: dict) -> itertools.product:
    return itertools.product(
        range(grid["x"], grid["x"] + grid["w"]), range(grid["y"], grid["y"] + grid["h"])
    )


@each_dashboard
def test_all_variables_are_labelled_defined_and_used(name):
    dashboard = DASHBOARDS[name]
    names = {variable["name"] for variable in variables(dashboard)}
    assert all(variable["label"] for variable in variables(dashboard))
    assert all(each["includeAll"] or each["current"] == {} for each in variables(dashboard))
    used = set(re.findall(r"\$\{?([a-z]\w*)", json.dumps(dashboard))) - {"__field", "__data"}
    assert used == names


@pytest.mark.parametrize("name", ["air-quality", "air-quality-city"])
def test_a_dashboard_about_the_air_shows_one_job(name):
    """Jobs can have different scales, and a city can be in several of them."""
    dashboard = DASHBOARDS[name]
    (job,) = (each for each in variables(dashboard) if each["name"] == "job")
    assert not job["multi"] and not job["includeAll"]
    targets = [
        one
        for each in panels(dashboard)
        if each["title"] != "Silent cities"
        for one in each["targets"]
    ]
    cities = [each["definition"] for each in variables(dashboard) if each["name"] == "city"]
    for query in [*(each["expr"] for each in (*annotations(dashboard), *targets)), *cities]:
        assert "(job" not in query
        selectors = re.findall(r"\b(?:airquality|process)_\w+({[^}]+})?", query)
        assert all(each.startswith('{job="$job"') for each in selectors), query


def test_silent_cities_follow_the_rule_of_the_alert():
    (rule,) = (each for each in ALERTS if each["alert"] == "AirQualityCityStale")
    rule = re.sub(r"\s+", " ", re.sub("#.*", "", rule["expr"])).strip()
    rule = re.sub(r"(?<=[({]) | (?=[)}])", "", rule)
    rule = re.sub(r"\b(airquality_\w+|ALERTS)\b(?!{)", r"\1{}", rule)
    rule = rule.replace("{", '{job="$job", ').replace(", }", "}")
    (target,) = panel_titled("Silent cities")["targets"]
    expected = f"count(group by (city) ({rule}))"
    assert target["expr"] == f'{expected} or 0 * count(airquality_index{{job="$job"}})'


@each_dashboard
def test_links_lead_to_the_city_dashboard_with_all_its_variables(name):
    city = next(each for each in DASHBOARDS.values() if each["uid"] == "aqi-city")
    known = {variable["name"] for variable in variables(city)}
    found = [setting for panel in panels(DASHBOARDS[name]) for setting in settings(panel)]
    links = [link["url"] for key, value in found if key == "links" for link in value]
    assert bool(links) == (name == "air-quality")
    for url in links:
        assert url.startswith("/d/aqi-city/air-quality-city?")
        assert set(re.findall(r"(?:\$\{|var-)(\w+)(?::queryparam|=)", url)) == known
        assert re.search(r"var-city=\$\{__(data\.fields|field\.labels)\.city:percentencode\}", url)
    assert [link["tags"] for link in DASHBOARDS[name]["links"]] == [DASHBOARDS[name]["tags"]]


@each_panel
def test_the_title_of_a_panel_fits_in_a_window_of_1280_pixels(panel):
    """Assuming 8 pixels per character, plus the margins and the icon of the description."""
    assert 8 * len(panel["title"]) + 34 <= panel["gridPos"]["w"] * 1280 / 24


@each_panel
def test_a_panel_is_described_and_its_overrides_match_its_fields(panel):
    assert re.search(r"[.?]$", panel["description"])
    assert "?" in panel["description"], "what does it answer?"
    refs = [target["refId"] for target in panel["targets"]]
    assert len(set(refs)) == len(refs)
    text = " ".join(f"{{{target['refId']}}} {target['expr']}" for target in panel["targets"])
    for matcher in (override["matcher"] for override in panel["fieldConfig"]["overrides"]):
        if matcher["id"] == "byFrameRefID":
            assert matcher["options"] in refs
        elif matcher["options"] == "Value":
            assert len(refs) == 1
        elif matcher["options"].startswith(("Value #", "Trend #")):
            assert matcher["options"][-1] in refs
        elif matcher["options"] != "/./" and panel["type"] in ("table", "geomap"):
            assert re.search(rf"\b{matcher['options']}\b", text)


@each_panel
def test_arrows_are_green_for_better_and_red_for_worse(panel):
    """As on the page."""
    mappings = [value for key, value in settings(panel) if key == "mappings"]
    by_value = [one for each in mappings for one in each if one["type"] == "value"]
    options = [option for one in by_value for option in one["options"].values()]
    arrows = {(option["text"], option["color"]) for option in options if option["text"][0] in "▲▼"}
    assert arrows in (set(), {("▲ better", "green"), ("▼ worse", "red")})


@each_panel
def test_series_of_a_chart_have_different_colours(panel):
    modes = [value.get("mode") for key, value in settings(panel) if key == "color"]
    assert "shades" not in modes
    if panel["type"] == "timeseries":
        assert modes[0] == "palette-classic"


@each_panel
def test_an_empty_cell_does_not_say_what_an_empty_table_says(panel):
    """The text of a panel without data is also that of each empty cell, unless overridden."""
    if panel["type"] == "table":
        overridden = {**panel, "fieldConfig": {**panel["fieldConfig"], "defaults": {}}}
        cells = {value for key, value in settings(overridden) if key == "noValue"}
        assert cells <= {"–", " "}
        # The overview's feeds have no empty cell.
        assert cells or panel["title"] == "Feeds"


def test_dots_and_lines_have_enough_contrast_in_both_themes():
    """According to WCAG 2.1, section 1.4.11; areas have the colours of the scale."""
    titles = ("Map", "Sub-indices: ${city}", "Concentrations: ${city}")
    drawn = [panel_titled(title) for title in titles]
    colors = set(re.findall(r"#[0-9A-F]{6}", json.dumps(drawn)))
    assert len(colors) > 12
    for color in colors:
        assert min(contrast(color, "#FFFFFF"), contrast(color, "#181B1F")) >= 3, color


@pytest.mark.parametrize(
    "title", ["AQI", "Category", "Cities in each category", "Cities, worst first"]
)
def test_text_on_the_colours_of_categories_is_readable(title):
    """According to WCAG 2.1, section 1.4.3, whichever text Grafana chooses: a stat by brightness, a
    table and a state timeline by contrast."""
    colors = set(re.findall(r"#[0-9A-F]{6}", json.dumps(panel_titled(title))))
    assert len(colors) >= 18
    for color in colors:
        red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
        bright = 299 * red + 587 * green + 114 * blue > 180_000
        by_contrast = "#FFFFFF" if contrast(color, "#FFFFFF") >= 3 else "#000000"
        for text in ("#202226" if bright else "#F7F8FA", by_contrast):
            assert contrast(color, text) >= 4.5, (color, text)


def contrast(one: str, two: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(two)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(color: str) -> float:
    parts = (int(color[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_provisioning_defines_one_prometheus_and_read_only_dashboards():
    provisioning = ROOT / "grafana/provisioning"
    files = {path: yaml.safe_load(path.read_text()) for path in provisioning.rglob("*.yaml")}
    assert all(content["apiVersion"] == 1 and "$" not in str(content) for content in files.values())
    (source,) = files[provisioning / "datasources/airquality.yaml"]["datasources"]
    (provider,) = files[provisioning / "dashboards/airquality.yaml"]["providers"]
    assert source["type"] == "prometheus" and source["isDefault"] and not source["editable"]
    assert provider["type"] == "file" and not provider["allowUiUpdates"]


def test_no_query_contains_an_unknown_variable():
    notes = [each for dashboard in DASHBOARDS.values() for each in annotations(dashboard)]
    assert all(each["expr"] == each["target"]["expr"] for each in notes)
    for part in [*notes, *(target for panel in PANELS for target in panel["targets"])]:
        assert "$" not in interpolated(part["expr"])


needs_promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="no promtool")


def check_queries(folder: Path, series: dict[str, str], cases: list, interval: str) -> None:
    """Evaluates queries of panels over made-up series, with promtool."""
    inputs = [{"series": name, "values": values} for name, values in series.items()]
    test = {"interval": interval, "input_series": inputs, "promql_expr_test": cases}
    (folder / "queries.yaml").write_text(json.dumps({"tests": [test]}))
    run("promtool", "test", "rules", folder / "queries.yaml")


def expected(title: str, at: str, samples: dict[str, float], ref: str = "A") -> dict:
    (target,) = (each for each in panel_titled(title)["targets"] if each["refId"] == ref)
    results = [{"labels": labels, "value": value} for labels, value in samples.items()]
    return {"expr": interpolated(target["expr"]), "eval_time": at, "exp_samples": results}


@needs_promtool
def test_each_feed_of_each_exporter_has_one_row(tmp_path):
    """Of two exporters with the same feeds, and one of another job that went down."""
    series = {}
    for instance in ("one", "two"):
        of = f'job="pair", instance="{instance}"'
        series[f"up{{{of}}}"] = "1x60"
        series[f'airquality_exporter_build_info{{{of}, version="1.0.0", revision="a"}}'] = "1x60"
        for feed, connected in (("a", 1), ("b", 0)):
            name = f'{{{of}, feed="{feed}"}}'
            series[f"airquality_exporter_feed_connected{name}"] = f"{connected}x60"
            series[f"airquality_exporter_feed_paused{name}"] = "0x60"
            series[f"airquality_exporter_feed_certificate_expiry_timestamp_seconds{name}"] = (
                f"{22 * 60 + 86400 * 9 + 5}x60"
            )
            series[f"airquality_exporter_feed_readings_total{name}"] = "0+60x60"
            series[f"airquality_exporter_feed_rejected_total{name}"] = "0x60"
        for city, feed in (("Delhi", "a"), ("Pune", "a"), ("Agra", "b")):
            series[f'airquality_city_info{{{of}, city="{city}", feed="{feed}"}}'] = "1x60"
    gone = 'job="gone", instance="three"'
    series[f"up{{{gone}}}"] = "1x20 0x40"
    series[f'airquality_exporter_build_info{{{gone}, version="0.9"}}'] = "1x20 stale"
    series[f'airquality_exporter_feed_connected{{{gone}, feed="a"}}'] = "1x20 stale"
    series[f'airquality_exporter_feed_readings_total{{{gone}, feed="a"}}'] = "0+60x20 stale"
    series[f'airquality_exporter_feed_rejected_total{{{gone}, feed="a"}}'] = "0+60x20 stale"
    columns = {"A": (1, 0), "C": (2, 1), "D": (1, 1), "E": (0, 0), "F": (9, 9)}
    cases = []
    for ref, values in columns.items():
        version = ', version="1.0.0"' if ref == "A" else ""
        cells = {
            f'{{job="pair", instance="{instance}", feed="{feed}"{version}}}': value
            for instance in ("one", "two")
            for feed, value in zip("ab", values, strict=True)
        }
        cells |= {'{job="gone", instance="three"}': -1} if ref == "A" else {}
        cases.append(expected("Feeds of each exporter", "22m", cells, ref))
    check_queries(tmp_path, series, cases, "1m")


@needs_promtool
def test_exporters_with_the_same_feed_count_it_once(tmp_path):
    """Names have the job only where several jobs are shown."""
    series = {}
    for instance, rate in (("one", 2), ("two", 4)):
        of = f'job="pair", instance="{instance}"'
        series[f"airquality_exporter_build_info{{{of}}}"] = "1x60"
        for name in ("readings_total", "messages_total", "duplicates_total"):
            series[f'airquality_exporter_feed_{name}{{{of}, feed="a"}}'] = f"0+{rate}x60"
        name = f'airquality_exporter_feed_messages_without_readings_total{{{of}, feed="a"}}'
        series[name] = f"0+{rate // 2}x60"
        name = f'airquality_exporter_feed_disconnects_total{{{of}, feed="a", reason="lost"}}'
        series[name] = f"0+{rate}x60"
    feed = '{job="pair", feed="a", name="a "}'
    cases = [
        expected("Readings per second", "1m", {feed: 4}),
        expected("Messages without readings", "1m", {feed: 0.5}),
        expected("Disconnects, by reason", "1m", {'{reason="lost"}': 40}),
        expected("Rare events", "1m", {"{}": 40}),
    ]
    check_queries(tmp_path, series, cases, "1s")
    other = 'job="other", instance="three"'
    series[f"airquality_exporter_build_info{{{other}}}"] = "1x60"
    series[f'airquality_exporter_feed_readings_total{{{other}, feed="a"}}'] = "0+1x60"
    named = {
        f'{{job="{job}", feed="a", {extra}name="a {job}"}}': rate
        for job, extra, rate in (("pair", 'among="pair", ', 4), ("other", 'among="other", ', 1))
    }
    check_queries(tmp_path, series, [expected("Readings per second", "1m", named)], "1s")


@needs_promtool
def test_a_silent_city_is_counted_once_and_a_feed_that_is_down_makes_none(tmp_path):
    """Two exporters of a feed of which one city is silent, and of another that has stopped."""
    series = {}
    for instance in ("one", "two"):
        of = f'job="{JOB}", instance="{instance}"'
        for feed, connected in (("a", "1x720"), ("b", "1x60 0x660")):
            series[f'airquality_exporter_feed_connected{{{of}, feed="{feed}"}}'] = connected
            series[f'airquality_exporter_feed_paused{{{of}, feed="{feed}"}}'] = "0x720"
        for city, feed, updated in (
            ("Delhi", "a", "0+60x720"),
            ("Pune", "a", "0+60x60 3600x660"),
            ("Agra", "b", "0+60x60 3600x660"),
        ):
            name = f'{{{of}, city="{city}"'
            series[f"airquality_index{name}}}"] = "80x720"
            series[f'airquality_city_info{name}, feed="{feed}"}}'] = "1x720"
            series[f"airquality_last_update_timestamp_seconds{name}}}"] = updated
    case = expected("Silent cities", "12h", {"{}": 1})
    check_queries(tmp_path, series, [case], "1m")


@needs_promtool
def test_a_city_with_two_places_is_one_dot(tmp_path):
    """Two exporters of the job round its coordinates differently."""
    series = {}
    for instance, latitude in (("one", "28.61"), ("two", "28.6")):
        of = f'job="{JOB}", instance="{instance}", city="Delhi"'
        place = f'feed="a", country="IN", latitude="{latitude}", longitude="77.2"'
        series[f"airquality_city_info{{{of}, {place}}}"] = "1x10"
        series[f"airquality_index{{{of}}}"] = "80x10"
    case = expected("Map", "5m", {"{}": 1})
    case["expr"] = f"count({case['expr']})"
    check_queries(tmp_path, series, [case], "1m")


@needs_promtool
def test_a_city_leaves_the_list_when_it_expires_but_not_when_its_exporter_goes_down(tmp_path):
    """Of two exporters one loses a city, the other all of them, half an hour before the end."""
    gone = "80x354 stale"
    values = {("a", "Delhi"): "80x360", ("a", "Pune"): gone, ("b", "Agra"): gone}
    series = {
        f'airquality_index{{job="{JOB}", instance="{instance}", city="{city}"}}': each
        for (instance, city), each in values.items()
    }
    queries = [
        # As a range of an hour.
        f"last_over_time(({query})[1h:5m])" if target["range"] else query
        for target in panel_titled("Cities, worst first")["targets"]
        for query in [interpolated(target["expr"])]
    ]
    listed = {
        "expr": " or ".join(f"group by (city) ({query})" for query in queries),
        "eval_time": "30h",
        "exp_samples": [
            {"labels": f'{{city="{city}"}}', "value": 1} for city in ("Delhi", "Agra")
        ],
    }
    check_queries(tmp_path, series, [listed], "5m")
