"""What a feed can cost: the largest messages, the most cities, two feeds at once; memory and scrapes meanwhile."""

import threading
import time

import pytest

from support import metrics
from support.exposition import Exposition
from support.peers import WebSocketFeed
from support.waiting import wait_for

MIB = 1 << 20
LIMIT = 4 * MIB
CITIES = 100_000


@pytest.fixture
def feeds():
    feeds = [WebSocketFeed(compression=None), WebSocketFeed(compression=None)]
    yield feeds
    for feed in feeds:
        feed.stop()


def cities(prefix: str, count: int) -> str:
    """A message with as many cities, none of them in another message."""
    return "[" + ",".join(f'{{"city":"{prefix} {number}","aqi":{number % 500}}}' for number in range(count)) + "]"


# As long as a message may be. Numbers take the most memory for their length, objects the most time.
NUMBERS = "[" + ",".join(["1"] * (LIMIT // 2 - 1)) + "]"
OBJECTS = "[" + ",".join(["{}"] * (LIMIT // 3 - 1)) + "]"


class Scrapes(threading.Thread):
    """One scrape after the other, of what does not grow with the cities."""

    def __init__(self, exporter):
        super().__init__(daemon=True)
        self.exporter = exporter
        self.is_stopping = False
        self.longest = 0.0
        self.count = 0

    def run(self):
        while not self.is_stopping:
            before = time.monotonic()
            answer = self.exporter.get("/metrics?collect[]=exporter")
            self.longest = max(self.longest, time.monotonic() - before)
            self.count += answer.status == 200
            time.sleep(0.01)

    def stop(self):
        self.is_stopping = True
        self.join(60)


def start_exporter(start, feeds):
    urls = [flag for feed in feeds for flag in ("--feed.url", feed.url)]
    exporter = start.exporter(*urls, "--feed.max-message-bytes", str(LIMIT), "--feed.ping-interval", "0")
    for feed in feeds:
        feed.wait_for_client()
    return exporter


def send_at_once(feeds, *messages):
    """Each feed its message, or all the same."""
    threads = [
        threading.Thread(target=feed.send, args=(messages[number % len(messages)],)) for number, feed in enumerate(feeds)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)


def figure(exporter, name: str, **labels: str) -> float:
    """The sum of the samples, from a scrape without the cities."""
    page = Exposition(exporter.get("/metrics?collect[]=exporter").text)
    return sum(value for _, value in page.samples(name, **labels))


def wait_for_figure(exporter, name: str, value: float, **labels: str) -> None:
    wait_for(lambda: figure(exporter, name, **labels) == value, f"{name}{labels} {value}", 120)


@pytest.mark.parametrize("message", [NUMBERS, OBJECTS], ids=["numbers", "objects"])
def test_memory_of_the_largest_messages(start, feeds, message):
    exporter = start_exporter(start, feeds)
    send_at_once(feeds, cities("City", CITIES))
    wait_for_figure(exporter, metrics.CITIES, CITIES)
    # The whole exposition is kept as well.
    assert exporter.get("/metrics").status == 200
    before = exporter.resident_bytes
    scrapes = Scrapes(exporter)
    scrapes.start()
    reason, elements = ("not_an_object", message.count("1")) if message is NUMBERS else ("no_city", message.count("{"))
    for number in (1, 2, 3):
        send_at_once(feeds, message)
        wait_for_figure(exporter, metrics.REFUSALS, 2 * elements * number, reason=reason)
    scrapes.stop()
    assert exporter.peak_resident_bytes < 256 * MIB, f"{exporter.peak_resident_bytes / MIB:.0f} MiB at the peak"
    wait_for(lambda: exporter.resident_bytes < before + 32 * MIB, "the memory of the messages to come back")
    assert scrapes.count > 0
    assert scrapes.longest < 2, f"a scrape took {scrapes.longest:.2f} s"
    assert exporter.get("/-/healthy").status == 200


def test_messages_of_new_cities(start, feeds):
    exporter = start_exporter(start, feeds)
    scrapes = Scrapes(exporter)
    scrapes.start()
    # More cities than there is room for, some 120,000 in each message, and none twice.
    count = 3
    messages = [[cities(f"{feed}{number}", 120_000) for feed in "ab"] for number in range(count)]
    assert all(len(message) < LIMIT for pair in messages for message in pair)
    for pair in messages:
        send_at_once(feeds, *pair)
    wait_for_figure(exporter, metrics.REFUSALS, 2 * count * 120_000 - CITIES, reason="city_limit")
    scrapes.stop()
    assert figure(exporter, metrics.CITIES) == CITIES
    assert exporter.peak_resident_bytes < 256 * MIB, f"{exporter.peak_resident_bytes / MIB:.0f} MiB at the peak"
    assert scrapes.longest < 2, f"a scrape took {scrapes.longest:.2f} s"
    assert sum("City refused" in line for line in exporter.errors) == 10
