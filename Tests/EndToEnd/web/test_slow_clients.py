"""Clients that do not read a large page, or have sent all that they will: what they get."""

import socket

import pytest

from support import metrics
from support.raw_http import abort, connect, get, parse_responses, read_to_end
from support.responses import expect_one_line
from support.waiting import wait_for

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("limits of time")]

#: The number of cities of a page that is too big for the kernel's buffers.
BIG = 24_000


@pytest.fixture
def big(start, python_feed):
    """Starts an exporter with such a page."""

    def start_big(*flags):
        exporter = start.reader(python_feed, "--city.limit", "100000", *flags)
        python_feed.send_cities(7, BIG)
        wait_for(
            lambda: exporter.get("/metrics").body.count(b"\nairquality_index{") == BIG, "all cities"
        )
        return exporter

    return start_big


def test_slow_scrapes_give_way_to_another_address_and_not_to_their_own(big):
    exporter = big("--web.max-requests", "8")
    descriptors = exporter.descriptor_count
    request = (
        b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n"
    )

    def begin(source: str) -> tuple[socket.socket, bytes]:
        reader = connect(exporter.port, receive_buffer=4096, source=source)
        reader.sendall(request)
        return reader, reader.recv(12)

    # Two for one address (a quarter), and eight in all.
    readers = [begin("127.0.0.2") for _ in range(3)]
    assert [status for _, status in readers] == [b"HTTP/1.1 200"] * 2 + [b"HTTP/1.1 503"]
    readers += [begin(f"127.0.0.{3 + number // 2}") for number in range(6)]
    assert [status for _, status in readers[3:]] == [b"HTTP/1.1 200"] * 6
    rejected = get(exporter.port, "/metrics", "127.0.0.2")
    assert rejected.status == 503 and rejected.headers["Retry-After"].isdigit()
    for _ in range(3):
        assert exporter.get("/metrics").status == 200
    expect_one_line(rejected)
    # Only scrapes are limited.
    for path in ("/-/healthy", "/-/ready", "/", "/history.json?limit=1"):
        assert exporter.get(path).status == 200
    for number, (reader, _) in enumerate(readers):
        abort(reader) if number % 2 else reader.close()
    wait_for(lambda: exporter.get("/metrics").status == 200, "a place")
    exporter.wait_for_sample(metrics.IN_FLIGHT, 1)
    wait_for(lambda: exporter.descriptor_count <= descriptors + 2, "the end of all connections")
    assert exporter.scrape().value(metrics.REQUESTS, code="503") >= 2


def send_with_end(client: socket.socket, request: bytes) -> None:
    """Sends the request and the end of the stream in one segment."""
    client.send(request, socket.MSG_MORE)
    client.shutdown(socket.SHUT_WR)


def test_a_client_that_half_closes_its_connection_still_gets_the_whole_page(big):
    exporter = big()
    with connect(exporter.port, receive_buffer=1 << 16) as slow, connect(exporter.port) as other:
        send_with_end(slow, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        begun = slow.recv(100)
        # Once this connection is closed, the slow one's end has been noticed as well.
        send_with_end(other, b"GET /")
        assert other.recv(1) == b""
        received = begun + read_to_end(slow)
    assert parse_responses(received)[0].body.count(b"\nairquality_index{") == BIG
