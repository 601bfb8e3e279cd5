"""Clients of a relay that want its memory or its places. Each address is one client; 127.0.0.2 is another one."""

import contextlib
import json
import socket

import pytest
from websockets.sync.client import connect

from support import raw_feed
from support.memory import MIB, returns_memory
from support.waiting import wait_for

CITIES = 50_000


@pytest.fixture
def relay(start, python_feed):
    """A relay that knows many cities, and a client that hears the feed."""
    served = start.feed("relay", python_feed.url, "--shards=2")
    python_feed.wait_for_client()
    with connect(served.url, max_size=None, compression=None, source_address=("127.0.0.2", 0)) as client:

        def send(value: int) -> None:
            for first in range(0, CITIES, 10_000):
                cities = [{"city": f"City number {n}", "aqi": value} for n in range(first, first + 10_000)]
                python_feed.send(json.dumps(cities))
                assert len(json.loads(client.recv(60))) == len(cities)

        served.send_all = send
        send(1)
        send(2)
        yield served


def unread(url: str, path: str = "/") -> socket.socket:
    """A client that has been accepted and reads nothing more."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(30)
    host, port = url.removeprefix("ws://").removesuffix("/").rsplit(":", 1)
    client.connect((host, int(port)))
    client.sendall(raw_feed.request(path))
    assert b" 101 " in client.recv(64)
    return client


def test_clients_that_read_nothing_share_what_waits_for_them(relay):
    peak = relay.peak_resident_bytes
    with returns_memory(relay), contextlib.ExitStack() as stack:
        for number in range(100):
            path = ("/", "/shard/0/2", "/shard/1/2")[number % 3]
            stack.callback(unread(relay.url, path).close)
            if number % 20 == 0:
                relay.send_all(number)
        assert relay.peak_resident_bytes - peak < 128 * MIB
        # Others are served as before.
        relay.send_all(7)


def test_thousands_that_connect_and_leave_leave_nothing_behind(relay):
    peak = relay.peak_resident_bytes
    with returns_memory(relay):
        for _ in range(3000):
            unread(relay.url).close()
        relay.send_all(7)
    assert relay.peak_resident_bytes - peak < 64 * MIB


def test_requests_in_many_short_lines_take_no_more_than_their_bytes(relay):
    before = relay.peak_resident_bytes
    with returns_memory(relay), contextlib.ExitStack() as stack:
        for _ in range(400):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", int(relay.url.rsplit(":", 1)[1].strip("/")))))
            client.sendall(b"GET / HTTP/1.1\r\n" + b"a\n" * 8000)
        relay.send_all(7)
        assert relay.peak_resident_bytes - before < 32 * MIB


def test_one_address_cannot_take_all_places(start, python_feed):
    served = start.feed("relay", python_feed.url)
    python_feed.wait_for_client()
    with returns_memory(served), contextlib.ExitStack() as stack:
        taken = 0
        for _ in range(1100):
            client = stack.enter_context(raw_feed.connect(served.url))
            client.settimeout(30)
            with contextlib.suppress(ConnectionError):
                taken += b" 101 " in client.recv(64)
        assert 500 <= taken <= 512
        with connect(served.url, source_address=("127.0.0.2", 0)) as other:
            python_feed.send('[{"city":"Pune","aqi":1}]')
            assert other.recv(30) == '[{"city":"Pune","aqi":1}]'
    # Places that are left are free again.
    wait_for(lambda: b" 101 " in raw_feed.connect(served.url).recv(64), "a place")
