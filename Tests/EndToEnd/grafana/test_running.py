"""Queries and rules against the real exporter and a real Prometheus."""

import functools
import re
import shutil
import time

import pytest

from grafana.dashboards import (
    DASHBOARDS,
    PANELS,
    annotations,
    interpolated,
    panel_titled,
    panels,
    variables,
)
from grafana.rules import faster_rules
from grafana.talking import CITIES, talking_feed
from support.peers import Prometheus
from support.waiting import wait_for

# One stack for all of these, so all of them in one process.
pytestmark = [
    pytest.mark.xdist_group("grafana"),
    pytest.mark.skipif(
        not shutil.which("prometheus"), reason="no prometheus: install Debian's package"
    ),
]

# What Prometheus itself adds, and what the poller exposes.
FOREIGN = r"up|ALERTS|scrape_duration_seconds|airquality_feed_\w+"


def overrides(title: str) -> list[dict]:
    return panel_titled(title)["fieldConfig"]["overrides"]


@pytest.fixture(scope="module")
def exporter(programs, tmp_path_factory):
    with talking_feed() as feed:
        running = programs.exporter(
            "--feed.url",
            feed.url,
            "--storage.file",
            str(tmp_path_factory.mktemp("storage") / "cities.sqlite"),
            "--city.shard",
            "0/1",
            "--feed.subindices-field",
            "subindices",
            "--feed.place-field",
            "place",
        )
        yield running
        running.stop()


@pytest.fixture(scope="module")
def prometheus(exporter, tmp_path_factory):
    """Every city has changed, something was rejected, an alert fires."""
    folder = tmp_path_factory.mktemp("prometheus")
    running = Prometheus(folder, (exporter.address,), rules=faster_rules(folder, 60))
    cities = len(CITIES)
    for condition in (
        "min(count_over_time(airquality_index[1m])) >= 10",
        f"count(max_over_time(airquality_category_direction[1m]) == 1) == {cities}",
        f"count(min_over_time(airquality_category_direction[1m]) == -1) == {cities}",
        "count(airquality_exporter_feed_rejected_total > 0) >= 2",
        "count(ALERTS) > 0",
    ):
        wait_for(functools.partial(running.query, condition), condition, 120, 0.2)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def exposed(prometheus, exporter) -> set[str]:
    """The names of all families, with or without series."""
    return set(re.findall(r"^# TYPE (\S+)", exporter.get("/metrics").text, re.MULTILINE))


def test_metrics_in_queries_are_exposed(exposed):
    queries = [target["expr"] for panel in PANELS for target in panel["targets"]]
    queries += [
        each["expr"] for dashboard in DASHBOARDS.values() for each in annotations(dashboard)
    ]
    for query in queries:
        names = set(re.findall(r"\b(?:(?:airquality|process|scrape)_\w+|up|ALERTS)\b", query))
        assert names
        assert not {name for name in names - exposed if not re.fullmatch(FOREIGN, name)}


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_panel_has_data_or_says_why_not(prometheus, panel):
    """One of its queries has a result, or the panel has words of its own for having none."""
    found = []
    for target in panel["targets"]:
        query = interpolated(target["expr"])
        series = prometheus.query_range(query, 20) if target["range"] else prometheus.query(query)
        labels = set(re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", "")))
        assert all(labels <= one["metric"].keys() for one in series), query
        found += series
    assert found or panel["fieldConfig"]["defaults"]["noValue"] != "no data"


@pytest.mark.parametrize("city", CITIES)
def test_city_of_any_name_has_its_own_data(prometheus, city):
    for panel in panels(DASHBOARDS["air-quality-city"]):
        queries = [interpolated(target["expr"], city) for target in panel["targets"]]
        found = [one for query in queries for one in prometheus.query(query)]
        assert found or panel["fieldConfig"]["defaults"]["noValue"] != "no data"
        assert {one["metric"]["city"] for one in found} <= {city}


def test_counts_of_categories_are_in_the_order_of_the_scale(prometheus):
    found = prometheus.query(
        interpolated(panel_titled("Cities in each category")["targets"][0]["expr"])
    )
    assert [one["metric"]["category"] for one in found] == ["1", "2", "3", "4", "5", "6"]
    assert sum(float(one["value"][1]) for one in found) == len(CITIES)


def test_words_boundaries_and_colours_are_the_exporters(programs):
    """Of all three scales: the tiles, the mapping of the list, and the bands."""
    tiles = overrides("Cities in each category")
    named = {
        each["matcher"]["options"]: each["properties"][1]["value"]["fixedColor"] for each in tiles
    }
    table = overrides("Cities, worst first")
    category = next(each for each in table if each["matcher"]["options"] == "Value #C")[
        "properties"
    ]
    words = next(each for each in category if each["id"] == "mappings")["value"][0]["options"]
    chart = overrides("AQI over time")
    for place, scale in enumerate(("india", "us", "eu")):
        exporter = programs.exporter("--feed.demo", "--aqi.scale", scale)
        info = [labels for labels, _ in exporter.scrape().samples("airquality_category_info")]
        exporter.stop()
        assert len(info) == 6
        for each in info:
            assert named[f"{scale} {each['face']} {each['name']}"] == each["color"]
            mapped = words[str(10 * place + int(each["category"]))]
            assert (mapped["text"], mapped["color"]) == (
                f"{each['face']} {each['name']}",
                each["color"],
            )
        steps = chart[place]["properties"][0]["value"]["steps"]
        bounds = {(int(each["from"]), each["color"]) for each in info}
        assert {(step["value"] or 0, step["color"]) for step in steps} == bounds


@pytest.mark.parametrize("name", DASHBOARDS)
def test_variables_and_annotations_find_something(prometheus, name):
    for variable in variables(DASHBOARDS[name])[1:]:
        metric, label = re.fullmatch(
            r"label_values\((.+), (\w+)\)", variable["definition"]
        ).groups()
        assert prometheus.query(f"group by ({label}) ({interpolated(metric)})")
    for annotation in annotations(DASHBOARDS[name]):
        found = prometheus.query(f"max_over_time(({interpolated(annotation['expr'])})[1m:1s])")
        # Grafana takes the value for the time, in milliseconds.
        assert found and all(
            abs(float(one["value"][1]) / 1000 - time.time()) < 3600 for one in found
        )


def test_rules_are_evaluated_without_an_error(prometheus):
    rules = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
    assert {rule["health"] for rule in rules} == {"ok"}
