"""From the feed to the scraper: the programs as they are built, and peers that others wrote."""

import itertools
import json
import os
import time

from websockets.sync.client import connect

from support import metrics
from support.peers import WebSocketFeed
from support.waiting import wait_for

CITIES = (
    "Mumbai Bengaluru Delhi Kolkata Bhubaneswar Chennai Pune Hyderabad Indore Jaipur"
    " Chandigarh Lucknow"
).split()


def test_values_are_those_that_the_feed_sent(start):
    feed = start.feed("simulate", "--interval", "200ms", "--seed", "7")
    # What the feed has said after each of its messages.
    states: list[dict[str, float]] = [{}]
    exporter = start.exporter("--feed.url", feed.url)
    with connect(feed.url) as client:

        def read():
            states.append(
                states[-1]
                | {element["city"]: element["aqi"] for element in json.loads(client.recv(30))}
            )

        def same():
            values = exporter.scrape().by(metrics.INDEX, "city")
            # Both are clients of the same feed, and either may be a few messages behind the other.
            for _ in range(5):
                if any(
                    all(values.get(city) == aqi for city, aqi in state.items())
                    for state in states[1:]
                ):
                    return values
                read()
            return None

        for _ in range(20):
            read()
            values = wait_for(same, "the values of the feed", pause=0.005)
    assert sorted(values) == sorted(CITIES)
    page = exporter.scrape()
    assert [labels["city"] for labels, _ in page.samples(metrics.INDEX)] == sorted(CITIES)
    assert page.value(metrics.CONNECTED) == 1
    assert page.value(metrics.CITIES) == 12


def test_history_has_the_first_two_points_at_once_and_then_one_per_interval(start, python_feed):
    exporter = start.exporter(
        "--feed.url", python_feed.url, "--history.interval", "500ms", "--history.capacity", "4"
    )
    python_feed.wait_for_client()
    deadline = time.monotonic() + 20
    for step in itertools.count():
        assert time.monotonic() < deadline, "the history did not move on"
        python_feed.send([{"city": "Pune", "aqi": step % 500}, {"city": "Delhi", "aqi": 300}])
        exporter.wait_for_sample(metrics.INDEX, step % 500, city="Pune")
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
    assert {tuple(point) for point in document["points"]} == {
        ("time", "time_ms", "city", "aqi", "category")
    }


def test_demo_feed(start):
    exporter = start.exporter("--feed.demo")
    wait_for(lambda: exporter.scrape().value(metrics.CITIES) == 12, "the twelve cities")
    page = exporter.scrape()
    assert page.value(metrics.CONNECTED, feed="demo") == 1
    assert exporter.get("/-/ready").status == 200
    assert exporter.get("/-/healthy").status == 200


def test_dead_feed_at_start_then_alive(start):
    # A port that nobody listens on, then somebody.
    feed = WebSocketFeed()
    port = feed.port
    feed.stop()
    exporter = start.exporter(
        "--feed.url",
        f"ws://127.0.0.1:{port}/",
        "--feed.reconnect-min",
        "20ms",
        "--feed.reconnect-max",
        "100ms",
    )
    page = exporter.scrape()
    assert page.value(metrics.CONNECTED) == 0
    assert exporter.get("/-/ready").status == 503
    assert exporter.get("/-/healthy").status == 200
    wait_for(
        lambda: exporter.scrape().value(metrics.DISCONNECTS, reason="refused") >= 3,
        "several attempts",
    )
    feed = WebSocketFeed(port)
    try:
        feed.wait_for_client()
        feed.send([{"city": "Pune", "aqi": 7}])
        exporter.wait_for_sample(metrics.INDEX, 7, city="Pune")
        assert exporter.get("/-/ready").status == 200
        # One line for the state that began, not one for each attempt. The end of this feed
        # begins another.
        assert exporter.count_lines("Feed unreachable") == 1
    finally:
        feed.stop()


def test_rejections_are_counted_by_reason_and_neighbours_live(start, python_feed):
    exporter = start.exporter(
        "--feed.url", python_feed.url, "--feed.max-message-bytes", "1KiB", "--city.limit", "2"
    )
    python_feed.wait_for_client()
    messages = [
        ("[1,", "not_json"),
        ("7", "not_an_array"),
        (b"\x00\x01", "not_json"),
        ("[" + " " * 2000 + "]", "too_large"),
        ("[7]", "not_an_object"),
        ('[{"aqi":1}]', "no_city"),
        ('[{"city":true}]', "bad_city"),
        ('[{"city":"Pune"}]', "no_value"),
        ('[{"city":"Pune","aqi":true}]', "bad_value"),
        ('[{"city":"Pune","aqi":10000}]', "out_of_range"),
        (
            '[{"city":"Pune","aqi":1},{"city":"Delhi","aqi":"x"},'
            '{"city":"Surat","aqi":3},{"city":"Agra","aqi":4}]',
            "city_limit",
        ),
    ]
    expected = {}
    for message, reason in messages:
        python_feed.send(message)
        expected[reason] = expected.get(reason, 0) + 1
    expected["bad_value"] += 1
    name = metrics.REJECTED
    wait_for(lambda: exporter.scrape().nonzero(name, "reason") == expected, "all rejections")
    page = exporter.scrape()
    assert page.by(metrics.INDEX, "city") == {"Pune": 1, "Surat": 3}
    assert page.value(metrics.MESSAGES) == len(messages)
    assert page.value(metrics.READINGS) == 2
    assert page.value(metrics.CONNECTED) == 1
    assert page.value(metrics.DISCONNECTS, reason="protocol") == 0
    refused = wait_for(
        lambda: [line for line in exporter.errors if "City rejected" in line],
        "the line that names it",
    )
    assert len(refused) == 1 and "city=Agra" in refused[0]


def test_every_message_is_read_from_fragments(start, python_feed):
    exporter = start.exporter("--feed.url", python_feed.url)
    python_feed.wait_for_client()
    message = json.dumps([{"city": f"City {number}", "aqi": number} for number in range(50)])
    for client in list(python_feed.clients):
        client.send(message[index : index + 7] for index in range(0, len(message), 7))
    wait_for(lambda: exporter.scrape().value(metrics.CITIES) == 50, "all cities")


def test_a_hundred_thousand_cities(start, tmp_path):
    # Prometheus gives up after ten seconds, in which a sanitizer does not come to the end of 40 MB.
    count = 10_000 if os.environ.get("AIRQUALITY_SLOW") else 100_000
    feed = start.feed(
        "simulate", "--cities", str(count), "--interval", "5s", "--coverage", "1", "--batch", "5000"
    )
    exporter = start.exporter("--feed.url", feed.url, "--city.limit", str(count))
    # Searched, not parsed: the page has 40 MB.
    line = b"\nairquality_exporter_cities %d\n" % count
    wait_for(lambda: line in exporter.get("/metrics").body, "all cities", 300, 0.5)
    # The usual time-out. On a busy machine a scrape may fail now and then.
    prometheus = start.prometheus(tmp_path, exporter.address, interval="10s")

    def scraped():
        cities, up = prometheus.query("count(airquality_index)"), prometheus.query("up")
        return cities and up and cities[0]["value"][1] == str(count) and up[0]["value"][1] == "1"

    wait_for(scraped, "all cities in Prometheus, and the target up", 300, 0.5)
