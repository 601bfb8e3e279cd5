"""The real programs, running: a feed with odd city names, the exporter, and a Prometheus that scrapes it."""

import contextlib
import functools
import json
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from grafana.dashboards import GRAFANA
from support.peers import Prometheus, WebSocketFeed
from support.programs import Exporter, Programs
from support.waiting import wait_for

# Everything that breaks a query, a link or a label when somebody forgets to escape it. A back-tick is not among them:
# it ends the raw string that the dashboards put the name into, see the README.
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
# A city goes up and down between two of these, so that every category occurs and every city changes.
LEVELS = [25.5, 75.25, 150.0, 250.5, 350.75, 450.0]
POLLUTANTS = ["pm2_5", "pm10", "no2", "so2", "o3", "co", "nh3"]
SOURCE = 'open-meteo; kind=model; license="CC BY 4.0"'
POINTS = 25
INTERVAL = 0.2


@dataclass
class Stack:
    exporter: Exporter
    prometheus: Prometheus


def message(turn: int) -> str:
    elements: list[dict] = [
        {"city": city, "aqi": LEVELS[(index + (turn // 6 + index) % 2) % len(LEVELS)],
         "pollutants": {pollutant: turn % 50 + place for place, pollutant in enumerate(POLLUTANTS)},
         "subindices": {pollutant: 20 + (turn // 6 + place) % 7 for place, pollutant in enumerate(POLLUTANTS)},
         "place": {"country": "IN", "latitude": 10 + index, "longitude": 75.5 + index}}
        for index, city in enumerate(CITIES)
    ]
    return "not JSON" if turn % 10 == 9 else json.dumps(elements + [{"city": "Nowhere", "aqi": None}])


def name_source(connection, request, response) -> None:
    response.headers["Air-Quality-Source"] = SOURCE


@contextlib.contextmanager
def feed() -> Iterator[WebSocketFeed]:
    """Sends all cities every `INTERVAL`."""
    server, stop = WebSocketFeed(process_response=name_source), threading.Event()

    def talk() -> None:
        turn = 0
        while not stop.wait(INTERVAL):
            server.send(message(turn))
            turn += 1

    thread = threading.Thread(target=talk)
    thread.start()
    try:
        yield server
    finally:
        stop.set()
        thread.join()
        server.stop()


def quick_rules(directory: Path) -> list[str]:
    """Copies of the rule files whose groups run each second instead of each minute."""
    copies = []
    for source in sorted((GRAFANA / "rules").glob("*.yaml")):
        rules = yaml.safe_load(source.read_text())
        for group in rules["groups"]:
            group["interval"] = "1s"
        copy = directory / source.name
        copy.write_text(yaml.safe_dump(rules, allow_unicode=True))
        copies.append(str(copy))
    return copies


@contextlib.contextmanager
def start(programs: Programs) -> Iterator[Stack]:
    """Everything up, every city changed, the history full, the rules evaluated."""
    with contextlib.ExitStack() as running:
        directory = Path(running.enter_context(tempfile.TemporaryDirectory(prefix="airquality-grafana-")))
        address = running.enter_context(feed()).url
        exporter = programs.exporter(
            "--feed.url", address, "--history.interval", "0", "--storage.file", str(directory / "cities.sqlite"),
            # All of the cities, and the families that only shards have.
            "--city.shard", "0/1",
            "--feed.pollutants-field", "pollutants", "--feed.subindices-field", "subindices", "--feed.place-field", "place",
        )
        running.callback(exporter.stop)
        prometheus = Prometheus(directory, (exporter.address,), rules=quick_rules(directory))
        running.callback(prometheus.stop)
        wait_until_ready(exporter, prometheus)
        yield Stack(exporter, prometheus)


def wait_until_ready(exporter: Exporter, prometheus: Prometheus) -> None:
    wait_for(lambda: exporter.get("/-/ready").status == 200, "the exporter to be ready", 120)
    cities = len(CITIES)
    conditions = {
        "ten scrapes": "min(count_over_time(airquality_index[1m])) >= 10",
        "better cities": f"count(max_over_time(airquality_category_direction[1m]) == 1) == {cities}",
        "worse cities": f"count(min_over_time(airquality_category_direction[1m]) == -1) == {cities}",
        "a full history": f"airquality_exporter_history_points == {POINTS * cities}",
        "a written storage": "airquality_exporter_storage_last_write_timestamp_seconds > 0",
        "refusals": "count(airquality_exporter_feed_refusals_total > 0) >= 2",
        "records": "count(count by (category) (instance_city_category:airquality_category:ratio1d)) == 6",
        "an alert": "count(ALERTS{alertstate='firing'}) > 0",
    }
    for what, expression in conditions.items():
        wait_for(functools.partial(prometheus.query, expression), f"{what}: {expression}", 120, 0.1)
