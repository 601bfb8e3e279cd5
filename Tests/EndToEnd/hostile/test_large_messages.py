"""The costs that feeds can cause with the largest messages, the most cities and two feeds at once:
memory, and delays of requests."""

import contextlib
import threading
import time

import pytest

from support import metrics
from support.large_messages import LIMIT, NUMBERS, OBJECTS, send_at_once, start_exporter
from support.memory import MIB, returns_memory

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("limits of time")]

CITIES = 10_000
#: Extra seconds that a request may take because of messages.
DELAY = 0.3


def cities(prefix: str, count: int) -> str:
    """A message with the given number of cities, which no other message has."""
    return (
        "["
        + ",".join(
            f'{{"city":"{prefix} {number}","aqi":{number % 500}}}' for number in range(count)
        )
        + "]"
    )


class Requests(threading.Thread):
    """Sends one request after the other."""

    def __init__(self, exporter):
        super().__init__(daemon=True)
        self._exporter = exporter
        self.is_stopping = False
        self.times = []

    def run(self):
        while not self.is_stopping:
            self.ask()
            time.sleep(0.01)

    def ask(self):
        before = time.monotonic()
        assert self._exporter.get("/metrics").status == 200
        self.times.append(time.monotonic() - before)


@contextlib.contextmanager
def requests_go_on(exporter):
    """Checks that nothing in the block delays requests."""
    requests = Requests(exporter)
    for _ in range(50):
        requests.ask()
    alone = max(requests.times)
    requests.times.clear()
    requests.start()
    try:
        yield
    finally:
        requests.is_stopping = True
        requests.join(60)
    longest = max(requests.times)
    print(
        f"longest of {len(requests.times)} requests {longest * 1000:.0f} ms, alone "
        f"{alone * 1000:.0f} ms"
    )
    assert longest < alone + DELAY


@pytest.mark.parametrize("message", [NUMBERS, OBJECTS], ids=["numbers", "objects"])
def test_messages_of_the_largest_size_stay_within_the_memory_limit(launcher, start, feeds, message):
    exporter = start_exporter(start, feeds, launcher=launcher)
    send_at_once(feeds, cities("City", CITIES))
    exporter.wait_for_figure(metrics.CITIES, CITIES)
    # The whole exposition is kept in memory as well.
    assert exporter.get("/metrics").status == 200
    reason, elements = (
        ("not_an_object", message.count("1"))
        if message is NUMBERS
        else ("no_city", message.count("{"))
    )
    with returns_memory(exporter), requests_go_on(exporter):
        for number in (1, 2, 3):
            send_at_once(feeds, message)
            exporter.wait_for_figure(metrics.REJECTED, 2 * elements * number, 120, reason=reason)
    print(f"{exporter.peak_resident_bytes / MIB:.0f} MiB at the peak")
    assert exporter.peak_resident_bytes < 256 * MIB
    assert exporter.get("/-/healthy").status == 200


def test_messages_full_of_new_cities_stay_within_the_memory_limit(launcher, start, feeds):
    exporter = start_exporter(start, feeds, launcher=launcher)
    # More cities than the limit allows, 120,000 in each message, and none twice.
    count = 3
    messages = [[cities(f"{feed}{number}", 120_000) for feed in "ab"] for number in range(count)]
    assert all(len(message) < LIMIT for pair in messages for message in pair)
    with requests_go_on(exporter):
        for pair in messages:
            send_at_once(feeds, *pair)
        exporter.wait_for_figure(
            metrics.REJECTED, 2 * count * 120_000 - CITIES, 120, reason="city_limit"
        )
    assert exporter.figure(metrics.CITIES) == CITIES
    assert exporter.peak_resident_bytes < 256 * MIB, (
        f"{exporter.peak_resident_bytes / MIB:.0f} MiB at the peak"
    )
    lines = exporter.lines("City rejected")
    # Ten names, in a line of each feed at most.
    assert len(lines) <= 2 and sum(line.count(", ") + 1 for line in lines) == 10
