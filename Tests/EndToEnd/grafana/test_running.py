"""Queries and rules against the real exporter and a real Prometheus."""

import functools
import re
import shutil
import time

import pytest

from grafana.dashboards import (
    DASHBOARDS,
    JOB,
    PANELS,
    annotations,
    interpolated,
    panel_titled,
    panels,
    variables,
)
from grafana.rules import faster_rules
from support.load import Load
from support.peers import Prometheus, WebSocketFeed
from support.waiting import wait_for

# All tests share one stack, so they run in one process.
pytestmark = [
    pytest.mark.xdist_group("grafana"),
    pytest.mark.skipif(
        not shutil.which("prometheus"), reason="no prometheus: install Debian's package"
    ),
]

# Names that break a query, a link or a label unless they are escaped. None has a back-tick, which
# ends the raw string that the dashboards put the name into, see the README.
CITIES = [
    "Delhi",
    "St. John's",
    "City (North)",
    'The "Quoted" Town',
    "Back\\slash",
    "A&B/C?d=e#f+g",
    "50% [x]{y}",
    "$city ${city}",
    "a|b^c$.*",
    "São Paulo",
    "新德里",
    "{{city}}, <b>bold</b>",
]
# A city goes up and down between two of these: every category occurs, and every city changes.
LEVELS = [25.5, 75.25, 150.0, 250.5, 350.75, 450.0]
POLLUTANTS = ["pm2_5", "pm10", "no2", "so2", "o3", "co", "nh3"]


def message(turn: int) -> str | list[dict]:
    if turn % 10 == 9:
        return "not JSON"
    step = turn // 6
    subindices = {name: 20 + (step + number) % 7 for number, name in enumerate(POLLUTANTS)}
    elements = [
        {
            "city": city,
            "aqi": LEVELS[(place + (step + place) % 2) % len(LEVELS)],
            "subindices": subindices,
            "pollutants": {"pm2_5": 20 + step % 7, "co": 400},
            "place": {"country": "IN", "latitude": 10 + place, "longitude": 75.5 + place},
        }
        for place, city in enumerate(CITIES)
    ]
    return [*elements, {"city": "Nowhere", "aqi": None}]


# A job that has one of the cities too, on another scale, with an index that no level reaches.
OTHER_JOB = "another (job)"
OTHER_INDEX = 9000

# Metrics that Prometheus itself adds, and those of `air-quality-feed poll`.
FOREIGN = r"up|ALERTS|scrape_duration_seconds|airquality_feed_\w+"


def overrides(title: str) -> list[dict]:
    return panel_titled(title)["fieldConfig"]["overrides"]


@pytest.fixture(scope="module")
def exporter(programs, authority, tmp_path_factory):
    """An exporter of a feed that sends data of every kind, by TLS."""
    storage = tmp_path_factory.mktemp("storage") / "cities.sqlite"
    flags = (f"--storage.file={storage}", f"--feed.ca-file={authority.file}")
    source = 'open-meteo; kind=model; license="CC BY 4.0"'
    with (
        WebSocketFeed(source=source, ssl=authority.issue("feed").server_context()) as feed,
        Load(feed, message, pause=0.2),
        programs.exporter("--feed.url", feed.url.replace("ws:", "wss:"), *flags) as exporter,
    ):
        yield exporter


@pytest.fixture(scope="module")
def other(programs):
    with (
        WebSocketFeed() as feed,
        Load(feed, lambda _: [{"city": CITIES[0], "aqi": OTHER_INDEX}], pause=0.2),
        programs.exporter("--feed.url", feed.url, "--aqi.scale", "eu") as exporter,
    ):
        yield exporter


@pytest.fixture(scope="module")
def prometheus(exporter, other, tmp_path_factory):
    """A Prometheus in which every city has changed, elements were rejected, and an alert fires."""
    folder = tmp_path_factory.mktemp("prometheus")
    jobs = [
        {"job_name": name, "static_configs": [{"targets": [one.address]}]}
        for name, one in ((JOB, exporter), (OTHER_JOB, other))
    ]
    running = Prometheus(folder, (), rules=faster_rules(folder, 60), scrape_configs=jobs)
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


def test_every_metric_in_the_queries_is_exposed(prometheus, exporter):
    exposed = exporter.scrape().names
    notes = [each for dashboard in DASHBOARDS.values() for each in annotations(dashboard)]
    targets = [target for panel in PANELS for target in panel["targets"]]
    queries = [each["expr"] for each in (*targets, *notes)]
    for query in queries:
        names = set(re.findall(r"\b(?:(?:airquality|process|scrape)_\w+|up|ALERTS)\b", query))
        assert names
        assert not {name for name in names - exposed if not re.fullmatch(FOREIGN, name)}


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_panel_has_data_or_explains_why_it_has_none(prometheus, panel):
    """One of its queries has a result, or the panel has its own text for an empty one."""
    found = []
    for target in panel["targets"]:
        query = interpolated(target["expr"])
        series = prometheus.query_range(query, 20) if target["range"] else prometheus.query(query)
        labels = set(re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", "")))
        assert all(labels <= one["metric"].keys() for one in series), query
        found += series
    assert found or panel["fieldConfig"]["defaults"]["noValue"] != "no data"


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_chart_keeps_its_past_while_the_exporter_is_down(prometheus, panel):
    """The range extends further beyond the last scrape than Prometheus looks back."""
    start = time.time() - 20
    for query in (interpolated(each["expr"]) for each in panel["targets"] if each["range"]):
        shown, later = (
            prometheus.ask("query_range", query=query, start=start, end=start + seconds, step=1)
            for seconds in (20, 620)
        )
        assert names(shown) <= names(later), query


def names(response: dict) -> set[str]:
    return {str(one["metric"]) for one in response["result"]}


@pytest.mark.parametrize("city", CITIES)
def test_the_city_dashboard_shows_only_data_of_the_city_whatever_its_name(prometheus, city):
    for panel in panels(DASHBOARDS["air-quality-city"]):
        queries = [interpolated(target["expr"], city) for target in panel["targets"]]
        found = [one for query in queries for one in prometheus.query(query)]
        assert found or panel["fieldConfig"]["defaults"]["noValue"] != "no data"
        assert {one["metric"]["city"] for one in found} <= {city}


def test_the_dashboards_about_the_air_show_one_job(prometheus):
    """A city that two jobs have is not mixed up, although their scales differ."""
    ours = {int(level) for level in LEVELS}
    for title in ("Worst now", "AQI"):
        for job, ref, indices in ((JOB, "A", ours), (OTHER_JOB, "C", {OTHER_INDEX})):
            for target in panel_titled(title)["targets"]:
                found = prometheus.query(interpolated(target["expr"], job=job))
                assert bool(found) == (target["refId"] == ref)
                assert {float(one["value"][1]) for one in found} <= indices


def test_counts_of_categories_are_in_the_order_of_the_scale(prometheus):
    (target, *_) = panel_titled("Cities in each category")["targets"]
    found = prometheus.query(interpolated(target["expr"]))
    assert [one["metric"]["category"] for one in found] == ["1", "2", "3", "4", "5", "6"]
    assert sum(float(one["value"][1]) for one in found) == len(CITIES)


def test_names_boundaries_and_colours_of_categories_agree_with_the_exporter(programs):
    """For all three scales: the tiles, the mapping of the list, and the bands."""
    named = {
        each["matcher"]["options"]: each["properties"][1]["value"]["fixedColor"]
        for each in overrides("Cities in each category")
    }
    table = {each["matcher"]["options"]: each for each in overrides("Cities, worst first")}
    category = table["Value #C"]["properties"]
    words = next(each for each in category if each["id"] == "mappings")["value"][0]["options"]
    chart = overrides("AQI over time")
    for place, scale in enumerate(("india", "us", "eu")):
        with programs.exporter("--feed.demo", "--aqi.scale", scale) as exporter:
            info = [labels for labels, _ in exporter.scrape().samples("airquality_category_info")]
        assert len(info) == 6
        for each in info:
            assert named[f"{scale} {each['face']} {each['name']}"] == each["color"]
            mapped = words[str(10 * place + int(each["category"]))]
            text = f"{each['face']} {each['name']}"
            assert (mapped["text"], mapped["color"]) == (text, each["color"])
        steps = chart[place]["properties"][0]["value"]["steps"]
        bounds = {(int(each["from"]), each["color"]) for each in info}
        assert {(step["value"] or 0, step["color"]) for step in steps} == bounds


@pytest.mark.parametrize("name", DASHBOARDS)
def test_variables_and_annotations_have_results(prometheus, name):
    for variable in variables(DASHBOARDS[name])[1:]:
        values = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["definition"])
        metric, label = values.groups()
        assert prometheus.query(f"group by ({label}) ({interpolated(metric)})")
    for annotation in annotations(DASHBOARDS[name]):
        found = prometheus.query(f"max_over_time(({interpolated(annotation['expr'])})[1m:1s])")
        # Grafana takes the value as the time, in milliseconds.
        times = [float(one["value"][1]) / 1000 for one in found]
        assert times and all(abs(each - time.time()) < 3600 for each in times)
