"""Clients that do not read what they get: memory stays bounded and is returned, and others are
served."""

import contextlib
import pathlib
import time

import pytest

from support import metrics, raw_feed
from support.memory import MIB, returns_memory
from support.raw_http import connect
from support.waiting import wait_for

pytestmark = pytest.mark.long

CITIES = 10_000


@pytest.fixture
def busy(start, python_feed):
    """An exporter, and a function that sends it a new value of each city."""
    exporter = start.reader(python_feed, "--history.capacity", "1")
    messages = 0

    def change_all():
        nonlocal messages
        messages += 1
        # Another category each time, so that nearly all of the page is new.
        python_feed.send_cities(messages + messages % 2 * 300, CITIES)

    change_all()
    exporter.wait_for_sample(metrics.CITIES, CITIES)
    return exporter, change_all


@pytest.mark.parametrize("encoding, addresses", [("identity", 1), ("gzip", 40)])
def test_slow_readers_hold_a_bounded_amount_of_memory(busy, encoding, addresses):
    exporter, change_all = busy
    for _ in range(3):
        change_all()
        assert exporter.get("/metrics", headers={"Accept-Encoding": encoding}).status == 200
    before = exporter.resident_bytes
    request = f"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept-Encoding: {encoding}\r\n\r\n".encode()
    statuses = set()
    with returns_memory(exporter), contextlib.ExitStack() as stack:
        for number in range(40):
            change_all()
            source = f"127.0.1.{1 + number % addresses}"
            reader = connect(exporter.port, receive_buffer=4096, source=source)
            stack.enter_context(reader)
            reader.sendall(request)
            statuses.add(reader.recv(12))
            # Readers at one address get only a share; this scraper is at another.
            if addresses == 1:
                assert exporter.get("/metrics", headers={"Accept-Encoding": encoding}).status == 200
        assert exporter.resident_bytes < before + 96 * MIB
        # They are disconnected in time, whatever they hold.
        wait_for(
            lambda: exporter.get("/metrics", headers={"Accept-Encoding": encoding}).status == 200,
            "an end of the slow readers",
            120,
        )
    assert statuses <= {b"HTTP/1.1 200", b"HTTP/1.1 503"}
    exporter.wait_for_sample(metrics.IN_FLIGHT, 1)
    print(f"{exporter.peak_resident_bytes / MIB:.0f} MiB at the peak")
    assert exporter.peak_resident_bytes < 192 * MIB


def unread(port: int) -> list[int]:
    """Bytes in the send queue of each connection to a port."""
    local = f"0100007F:{port:04X}"
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [int(row[4].split(":")[0], 16) for row in rows if row[1] == local]


def test_unread_responses_do_not_fill_the_buffers_of_the_kernel(start, python_feed):
    """The server is done with responses that fit the kernel's buffers before they are read."""
    exporter = start.reader(python_feed)
    python_feed.send_cities(7, 5000)
    exporter.wait_for_sample(metrics.CITIES, 5000)
    with contextlib.ExitStack() as stack:
        for _ in range(300):
            reader = stack.enter_context(
                connect(exporter.port, receive_buffer=4096, source="127.0.1.1")
            )
            reader.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            reader.settimeout(0.05)
            with contextlib.suppress(OSError):
                reader.recv(12)
        wait_for(lambda: sum(unread(exporter.port)) <= 64 * MIB, "a bound", 10)
        for _ in range(5):
            assert exporter.get("/metrics").status == 200


def test_silent_clients_of_a_feed_do_not_fill_the_buffers_of_the_kernel(start):
    feed = start.feed("simulate", "--cities=10000", "--coverage=1", "--interval=10ms")
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(raw_feed.connect(feed.url))
        # Without a limit, four MiB of each client.
        wait_for(lambda: min(unread(feed.port)[1:], default=0) > 64 << 10, "full buffers")
        time.sleep(1)
        queues = unread(feed.port)
    print(f"{max(queues) >> 10} KiB unread at most")
    assert max(queues) <= 384 << 10
