"""The dashboards as files: Grafana can load them, and their parts fit. They are not rendered."""

import itertools
import json
import re
import shutil

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
    parts = [*annotations(dashboard), *(one for each in panels(dashboard) for one in each["targets"])]
    cities = [each["definition"] for each in variables(dashboard) if each["name"] == "city"]
    for query in [*(each["expr"] for each in parts), *cities]:
        assert "(job" not in query
        selectors = re.findall(r"\b(?:airquality|process)_\w+({[^}]+})?", query)
        assert all(each.startswith('{job="$job"') for each in selectors), query


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
    assert panel["description"].endswith(".")
    refs = [target["refId"] for target in panel["targets"]]
    assert len(set(refs)) == len(refs)
    text = " ".join(f"{{{target['refId']}}} {target['expr']}" for target in panel["targets"])
    for matcher in (override["matcher"] for override in panel["fieldConfig"]["overrides"]):
        if matcher["id"] == "byFrameRefID":
            assert matcher["options"] in refs
        elif matcher["options"].startswith(("Value #", "Trend #")):
            assert matcher["options"][-1] in refs
        elif panel["type"] == "table" or panel["type"] == "geomap":
            assert re.search(rf"\b{matcher['options']}\b", text)


@each_panel
def test_arrows_are_green_for_better_and_red_for_worse(panel):
    """As on the page; colours of the scale are for areas, never for text."""
    mappings = [value for key, value in settings(panel) if key == "mappings"]
    options = [option for each in mappings for one in each for option in one["options"].values()]
    arrows = {(option["text"], option["color"]) for option in options if option["text"][0] in "▲▼"}
    assert arrows in (set(), {("▲ better", "green"), ("▼ worse", "red")})
    modes = [value.get("mode") for key, value in settings(panel) if key == "color"]
    assert "palette-classic" not in modes


def test_dots_and_lines_have_enough_contrast_in_both_themes():
    """According to WCAG 2.1, section 1.4.11; areas have the colours of the scale."""
    drawn = [panel_titled("Map"), panel_titled("Sub-index of each pollutant")]
    colors = set(re.findall(r"#[0-9A-F]{6}", json.dumps(drawn)))
    assert len(colors) > 12
    for color in colors:
        assert min(contrast(color, "#FFFFFF"), contrast(color, "#181B1F")) >= 3, color


@pytest.mark.parametrize("title", ["AQI", "Category", "Cities in each category", "Cities, worst first"])
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


@pytest.mark.skipif(not shutil.which("promtool"), reason="no promtool")
def test_a_city_leaves_the_list_when_it_expires_but_not_when_its_exporter_goes_down(tmp_path):
    """Of two exporters one loses a city, the other all of them, half an hour before the end."""
    gone = "80x354 stale"
    values = {("a", "Delhi"): "80x360", ("a", "Pune"): gone, ("b", "Agra"): gone}
    series = [
        {
            "series": f'airquality_index{{job="{JOB}", instance="{instance}", city="{city}"}}',
            "values": each,
        }
        for (instance, city), each in values.items()
    ]
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
    test = {"interval": "5m", "input_series": series, "promql_expr_test": [listed]}
    (tmp_path / "list.yaml").write_text(json.dumps({"tests": [test]}))
    run("promtool", "test", "rules", tmp_path / "list.yaml")
