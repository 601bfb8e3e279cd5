"""From the feed to the scraper: the programs as they are built, and peers that others wrote."""

import gzip
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import time

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics

from peers import WebSocketFeed
from waiting import wait_for
from websockets.sync.client import connect

CITIES = "Mumbai Bengaluru Delhi Kolkata Bhubaneswar Chennai Pune Hyderabad Indore Jaipur Chandigarh Lucknow".split()


def test_values_are_those_that_the_feed_sent(start):
    feed = start.feed("simulate", "--interval", "200ms", "--seed", "7")
    # What the feed has said after each of its messages.
    states: list[dict[str, float]] = [{}]
    exporter = start.exporter("--feed.url", feed.url)
    with connect(feed.url) as client:

        def read():
            states.append(states[-1] | {element["city"]: element["aqi"] for element in json.loads(client.recv(30))})

        def same():
            values = {labels["city"]: value for labels, value in exporter.scrape().samples("airquality_index")}
            # Both are clients of the same feed, and either may be a few messages behind the other.
            for _ in range(5):
                if any(all(values.get(city) == aqi for city, aqi in state.items()) for state in states[1:]):
                    return values
                read()
            return None

        for _ in range(20):
            read()
            values = wait_for(same, "the values of the feed", pause=0.005)
    assert sorted(values) == sorted(CITIES)
    page = exporter.scrape()
    assert [labels["city"] for labels, _ in page.samples("airquality_index")] == sorted(CITIES)
    assert page.value("airquality_exporter_feed_connected") == 1
    assert page.value("airquality_exporter_cities") == 12


def test_history_has_the_first_two_points_at_once_and_then_one_per_interval(start, python_feed):
    exporter = start.exporter("--feed.url", python_feed.url, "--history.interval", "500ms", "--history.capacity", "4")
    python_feed.wait_for_client()
    deadline = time.monotonic() + 20
    for step in itertools.count():
        assert time.monotonic() < deadline, "the history did not move on"
        python_feed.send([{"city": "Pune", "aqi": step % 500}, {"city": "Delhi", "aqi": 300}])
        exporter.wait_for_sample("airquality_index", step % 500, city="Pune")
        points = exporter.history(city="Pune")["points"]
        assert len(points) <= 4
        if step == 1:
            assert [point["aqi"] for point in points] == [0, 1]
        if len(points) == 4 and points[0]["aqi"] > 1:
            break
    times = [point["time_ms"] for point in points]
    assert all(later - earlier >= 500 for earlier, later in zip(times, times[1:]))
    document = exporter.history()
    assert document["capacity"] == 4 and document["interval_seconds"] == 0.5
    keys = [(point["time_ms"], point["city"]) for point in document["points"]]
    assert keys == sorted(keys)
    assert {tuple(point) for point in document["points"]} == {("time", "time_ms", "city", "aqi", "category")}


def test_demo_feed(start):
    exporter = start.exporter("--feed.demo")
    wait_for(lambda: exporter.scrape().value("airquality_exporter_cities") == 12, "the twelve cities")
    page = exporter.scrape()
    assert page.value("airquality_exporter_feed_connected", feed="demo") == 1
    assert exporter.get("/-/ready").status == 200
    assert exporter.get("/-/healthy").status == 200


def test_dead_feed_at_start_then_alive(start):
    # A port that nobody listens on, then somebody.
    feed = WebSocketFeed()
    port = feed.port
    feed.stop()
    exporter = start.exporter(
        "--feed.url", f"ws://127.0.0.1:{port}/", "--feed.reconnect-min", "20ms", "--feed.reconnect-max", "100ms"
    )
    page = exporter.scrape()
    assert page.value("airquality_exporter_feed_connected") == 0
    assert exporter.get("/-/ready").status == 503
    assert exporter.get("/-/healthy").status == 200
    wait_for(
        lambda: exporter.scrape().value("airquality_exporter_feed_disconnects_total", reason="refused") >= 3,
        "several attempts",
    )
    feed = WebSocketFeed(port)
    try:
        feed.wait_for_client()
        feed.send([{"city": "Pune", "aqi": 7}])
        exporter.wait_for_sample("airquality_index", 7, city="Pune")
        assert exporter.get("/-/ready").status == 200
        # One line for the state that began, not one for each attempt. The end of this feed begins another.
        assert sum("Feed cannot be reached" in line for line in exporter.errors) == 1
    finally:
        feed.stop()


def test_refusals_are_counted_by_reason_and_neighbours_live(start, python_feed):
    exporter = start.exporter("--feed.url", python_feed.url, "--feed.max-message-bytes", "1KiB", "--city.limit", "2")
    python_feed.wait_for_client()
    messages = [
        ("[1,", "not_json"), ("7", "not_an_array"), (b"\x00\x01", "not_text"), ("[" + " " * 2000 + "]", "too_large"),
        ("[7]", "not_an_object"), ('[{"aqi":1}]', "no_city"), ('[{"city":7}]', "bad_city"),
        ('[{"city":"Pune"}]', "no_value"), ('[{"city":"Pune","aqi":true}]', "bad_value"),
        ('[{"city":"Pune","aqi":10000}]', "out_of_range"),
        ('[{"city":"Pune","aqi":1},{"city":"Delhi","aqi":"x"},{"city":"Surat","aqi":3},{"city":"Agra","aqi":4}]', "city_limit"),
    ]
    expected = {}
    for message, reason in messages:
        python_feed.send(message)
        expected[reason] = expected.get(reason, 0) + 1
    expected["bad_value"] += 1
    name = "airquality_exporter_feed_refusals_total"
    wait_for(lambda: exporter.scrape().nonzero(name, "reason") == expected, "every refusal counted")
    page = exporter.scrape()
    assert {labels["city"]: value for labels, value in page.samples("airquality_index")} == {"Pune": 1, "Surat": 3}
    assert page.value("airquality_exporter_feed_messages_total") == len(messages)
    assert page.value("airquality_exporter_feed_readings_total") == 2
    assert page.value("airquality_exporter_feed_connected") == 1
    assert page.value("airquality_exporter_feed_disconnects_total", reason="protocol") == 0
    refused = wait_for(lambda: [line for line in exporter.errors if "City refused" in line], "the line that names it")
    assert len(refused) == 1 and "city=Agra" in refused[0]


def test_every_message_is_read_from_fragments(start, python_feed):
    exporter = start.exporter("--feed.url", python_feed.url)
    python_feed.wait_for_client()
    message = json.dumps([{"city": f"City {number}", "aqi": number} for number in range(50)])
    for client in list(python_feed.clients):
        client.send(message[index : index + 7] for index in range(0, len(message), 7))
    wait_for(lambda: exporter.scrape().value("airquality_exporter_cities") == 50, "all cities")


ODD_NAMES = ['quo"te', "back\\slash", "नई दिल्ली", "😀 city", "القاهرة", "a{b}=c,d", "  trimmed  ", "O'Hare & <co>", "x" * 128]


def test_a_real_prometheus_scrapes_odd_names(start, python_feed, tmp_path):
    exporter = start.exporter("--feed.url", python_feed.url)
    prometheus = start.prometheus(tmp_path, exporter.address)
    python_feed.wait_for_client()
    python_feed.send([{"city": name, "aqi": 100 + number} for number, name in enumerate(ODD_NAMES)])
    exporter.wait_for_sample("airquality_exporter_cities", len(ODD_NAMES))

    def stored():
        found = {row["metric"]["city"]: float(row["value"][1]) for row in prometheus.query("airquality_index")}
        # A busy machine may fail a scrape now and then; it takes the cities with it.
        up = [row["value"][1] for row in prometheus.query("up")]
        return found if len(found) == len(ODD_NAMES) and up == ["1"] else None

    found = wait_for(stored, "all cities in Prometheus", pause=0.1)
    assert found == {name.strip(): 100 + number for number, name in enumerate(ODD_NAMES)}
    assert not exporter.scrape().duplicates


def test_pages_are_accepted_by_promtool_and_the_openmetrics_parser(start, python_feed):
    exporter = start.exporter("--feed.url", python_feed.url)
    python_feed.wait_for_client()
    python_feed.send([{"city": name, "aqi": number} for number, name in enumerate(ODD_NAMES)])
    exporter.wait_for_sample("airquality_exporter_cities", len(ODD_NAMES))
    text = exporter.get("/metrics").text
    if shutil.which("promtool"):
        check = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
        assert check.returncode == 0, check.stderr + check.stdout
    openmetrics = exporter.get("/metrics", headers={"Accept": "application/openmetrics-text;version=1.0.0"})
    assert openmetrics.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    families = {family.name: family for family in parse_openmetrics(openmetrics.text)}
    cities = {sample.labels["city"]: sample.value for sample in families["airquality_index"].samples}
    assert cities == {name.strip(): number for number, name in enumerate(ODD_NAMES)}
    compressed = exporter.get("/metrics", headers={"Accept-Encoding": "gzip"})
    assert compressed.headers["Content-Encoding"] == "gzip"
    assert "airquality_index" in gzip.decompress(compressed.body).decode()


def test_a_hundred_thousand_cities(start, tmp_path):
    # Prometheus gives up after ten seconds, in which a sanitizer does not come to the end of 40 MB.
    count = 10_000 if os.environ.get("AIRQUALITY_SLOW") else 100_000
    feed = start.feed("simulate", "--cities", str(count), "--interval", "5s", "--coverage", "1", "--batch", "5000")
    exporter = start.exporter("--feed.url", feed.url)
    # Searched, not parsed: the page has 40 MB.
    line = b"\nairquality_exporter_cities %d\n" % count
    wait_for(lambda: line in exporter.get("/metrics").body, "all cities", 300, 0.5)
    # A debug build on a busy machine takes more than the usual ten seconds for such a page.
    prometheus = start.prometheus(tmp_path, exporter.address, interval="30s")

    def scraped():
        cities, up = prometheus.query("count(airquality_index)"), prometheus.query("up")
        return cities and up and cities[0]["value"][1] == str(count) and up[0]["value"][1] == "1"

    wait_for(scraped, "all cities in Prometheus, and the target up", 300, 0.5)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_the_exporter_with_status_0(start, python_feed, number):
    exporter = start.exporter("--feed.url", python_feed.url)
    python_feed.wait_for_client()
    client = python_feed.clients[0]
    exporter.signal(number)
    assert exporter.wait() == 0
    wait_for(lambda: client.protocol.close_code == 1001, "the close frame")


@pytest.mark.parametrize(
    "arguments, line",
    [
        ([], r"air-quality-exporter: no feed: give --feed.url ADDRESS, or --feed.demo for a simulated one"),
        (["--feed.url", "ws://me:pw@h/?t=1", "--history.capacity=0"], r'air-quality-exporter: --history.capacity "0": .*'),
        (["--feed.demo", "--bogus"], r'air-quality-exporter: unknown flag "--bogus".*'),
        (["--feed.url", "wss//x"], r'air-quality-exporter: --feed.url .*expected a ws:// or wss:// address.*'),
    ],
)
def test_bad_flags_end_the_start_with_one_line(programs, arguments, line):
    ended = programs.run("air-quality-exporter", *arguments)
    assert ended.process.returncode != 0
    assert ended.output == []
    assert len(ended.errors) == 1 and re.fullmatch(line, ended.errors[0]), ended.errors


def test_port_in_use_is_one_clear_line(start, programs):
    exporter = start.exporter("--feed.demo")
    ended = programs.run(
        "air-quality-exporter", "--feed.demo", "--web.listen-address", exporter.address, "--log.level", "error"
    )
    assert ended.process.returncode != 0
    assert len(ended.errors) == 1 and exporter.address in ended.errors[0], ended.errors


def test_help_and_version(programs):
    for program in ("air-quality-exporter", "air-quality-feed"):
        ended = programs.run(program, "--help")
        assert ended.process.returncode == 0 and "--" in "\n".join(ended.output)
        ended = programs.run(program, "--version")
        assert ended.process.returncode == 0 and re.match(program + r", version \S+ ", ended.output[0])
