"""From the feed to the scraper: the built programs with third-party peers."""

import json

from websockets.sync.client import connect

from support import metrics
from support.memory import IS_SANITIZED
from support.peers import WebSocketFeed
from support.waiting import wait_for

CITIES = (
    "Mumbai Bengaluru Delhi Kolkata Bhubaneswar Chennai Pune Hyderabad Indore Jaipur"
    " Chandigarh Lucknow"
).split()


def test_exported_values_are_those_that_the_feed_sent(start):
    feed = start.feed("simulate", "--interval", "200ms", "--seed", "7")
    # The state of the feed after each of its messages.
    states: list[dict[str, float]] = [{}]
    exporter = start.exporter("--feed.url", feed.url)
    with connect(feed.url) as client:

        def read():
            message = json.loads(client.recv(30))
            states.append(states[-1] | {element["city"]: element["aqi"] for element in message})

        def same():
            values = exporter.scrape().by(metrics.INDEX, "city")
            # Both are clients of the same feed, and either may be a few messages behind the other.
            for _ in range(5):
                if any(state.items() <= values.items() for state in states[1:]):
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


def test_the_demo_feed_is_connected_and_ignores_a_jq_program_for_other_feeds(start):
    # A jq program for other feeds does not apply to this one.
    exporter = start.exporter("--feed.demo", "--feed.jq=.data[]")
    exporter.wait_for_sample(metrics.CITIES, 12)
    page = exporter.scrape()
    assert page.value(metrics.CONNECTED, feed="demo") == 1
    assert exporter.get("/-/ready").status == 200
    assert exporter.get("/-/healthy").status == 200


def test_an_exporter_connects_once_a_feed_that_was_down_at_start_is_up(start):
    # At first, nothing listens on the port.
    feed = WebSocketFeed()
    port = feed.port
    feed.stop()
    quick = ("--feed.reconnect-min=20ms", "--feed.reconnect-max=100ms")
    exporter = start.exporter("--feed.url", f"ws://127.0.0.1:{port}/", *quick)
    page = exporter.scrape()
    assert page.value(metrics.CONNECTED) == 0
    assert exporter.get("/-/ready").status == 503
    assert exporter.get("/-/healthy").status == 200
    exporter.wait_for_sample(metrics.DISCONNECTS, at_least=3, reason="refused")
    with WebSocketFeed(port) as feed:
        feed.wait_for_client()
        feed.send([{"city": "Pune", "aqi": 7}])
        exporter.wait_for_sample(metrics.INDEX, 7, city="Pune")
        assert exporter.get("/-/ready").status == 200
        # One line per outage, not per attempt. The end of this feed starts another outage.
        assert exporter.count_lines("Feed unreachable") == 1


def test_prometheus_scrapes_a_hundred_thousand_cities(start, tmp_path):
    # Prometheus gives up after ten seconds, which is too short for 40 MB under a sanitizer.
    count = 10_000 if IS_SANITIZED else 100_000
    feed = start.feed(
        "simulate", "--cities", str(count), "--interval", "5s", "--coverage", "1", "--batch", "5000"
    )
    exporter = start.exporter("--feed.url", feed.url, "--city.limit", str(count))
    # Searched, not parsed, because the page has 40 MB.
    line = b"\nairquality_exporter_cities %d\n" % count
    wait_for(lambda: line in exporter.get("/metrics").body, "all cities", 300, 0.5)
    # The usual time-out. On a busy machine a scrape may fail now and then.
    prometheus = start.prometheus(tmp_path, exporter.address, interval="10s")

    def scraped():
        cities, up = prometheus.query("count(airquality_index)"), prometheus.query("up")
        return cities and up and cities[0]["value"][1] == str(count) and up[0]["value"][1] == "1"

    wait_for(scraped, "all cities in Prometheus, and the target up", 300, 0.5)
