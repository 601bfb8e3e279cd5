"""More connections than allowed: clients at other addresses are still served, and the program
ends on SIGTERM."""

import contextlib
import resource
import signal
import socket
import struct
import time

import pytest

from support.memory import IS_SANITIZED, returns_memory
from support.programs import Exporter
from support.raw_http import GOODBYE, connect, get, read_to_end
from support.waiting import wait_for

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("limits of time")]

HEALTHY = b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n"
LISTEN = HEALTHY.replace(b"/-/healthy", b"/events")


@pytest.fixture(autouse=True)
def many_descriptors():
    """This process holds all the connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 10_000), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def expect_service(exporter: Exporter, sources: list[str]) -> None:
    """A scraper at each address is served at once, however many connections others have."""
    for source in sources:
        for _ in range(5):
            began = time.monotonic()
            assert get(exporter.port, "/metrics", source).status == 200
            assert time.monotonic() - began < 5


def expect_recovery(exporter: Exporter, descriptors: int) -> None:
    wait_for(lambda: exporter.descriptor_count <= descriptors + 5, "the end of all connections")
    assert exporter.get("/metrics").status == 200
    assert exporter.get("/-/healthy").status == 200


@pytest.mark.parametrize("is_asking", [False, True])
@pytest.mark.parametrize("addresses", [1, 4])
def test_4300_connections_leave_room_for_clients_at_other_addresses(start, is_asking, addresses):
    exporter = start.exporter("--feed.demo")
    descriptors = exporter.descriptor_count
    # Without a scrape in between.
    with returns_memory(exporter):
        with contextlib.ExitStack() as stack:
            for number in range(4300):
                source = f"127.0.0.{1 + number % addresses}"
                client = stack.enter_context(connect(exporter.port, source=source))
                if is_asking:
                    with contextlib.suppress(OSError):
                        client.sendall(HEALTHY)
            # A place is taken until the thread of its connection has ended.
            assert exporter.descriptor_count <= descriptors + min(512, 128 * addresses) + 20
            expect_service(exporter, ["127.0.0.6", "127.0.0.7"])
        wait_for(lambda: exporter.descriptor_count <= descriptors + 5, "the end of all connections")
    expect_recovery(exporter, descriptors)


def test_a_connection_with_a_response_under_way_is_never_closed_to_make_room(start):
    exporter = start.exporter("--feed.demo")
    with contextlib.ExitStack() as stack:

        def connected(number: int, request: bytes, end: bytes) -> socket.socket:
            client = stack.enter_context(connect(exporter.port, source=f"127.0.0.{1 + number % 4}"))
            client.sendall(request)
            received = b""
            while end not in received:
                part = client.recv(1000)
                assert part
                received += part
            return client

        listeners = [connected(number, LISTEN, b"\n:\n\n") for number in range(256)]
        for number in range(256):
            connected(number, HEALTHY, b"healthy")
        # All places are taken, and each of these needs one.
        for number in range(100):
            assert get(exporter.port, "/metrics", f"127.0.0.{10 + number}").status == 200
        for client in listeners:
            client.settimeout(20)
            # An event, or a heartbeat.
            assert client.recv(1000)


def test_a_hundred_connections_with_64_open_files_leave_room_for_others(start, tmp_path):
    storage, few = f"--storage.file={tmp_path / 'storage'}", ("prlimit", "--nofile=64:64")
    exporter = start.exporter("--feed.demo", storage, launcher=few)
    descriptors = exporter.descriptor_count
    with returns_memory(exporter), contextlib.ExitStack() as stack:
        clients = [
            stack.enter_context(connect(exporter.port, source=f"127.0.0.{1 + n % 2}"))
            for n in range(100)
        ]
        for client in clients:
            with contextlib.suppress(OSError):
                client.sendall(HEALTHY)
        expect_service(exporter, ["127.0.0.3", "127.0.0.4"])
        served = 0
        for client in clients:
            client.setblocking(False)
            with contextlib.suppress(OSError):
                served += client.recv(100).startswith(b"HTTP/1.1 200 ")
        assert served > 10
        # The remaining descriptors are for the rest of the program.
        assert exporter.descriptor_count <= 60
        assert exporter.scrape().value("airquality_exporter_feed_connected", feed="demo") == 1
    expect_recovery(exporter, descriptors)


def test_4300_connections_to_a_unix_socket_leave_room_for_tcp_clients(start, tmp_path):
    path = str(tmp_path / "web.sock")
    exporter = start.exporter("--feed.demo", "--web.listen-address", f"unix:{path}")
    descriptors = exporter.descriptor_count
    with returns_memory(exporter), contextlib.ExitStack() as stack:
        for _ in range(4300):
            client = stack.enter_context(socket.socket(socket.AF_UNIX))
            # With Python's own time-out, it would fail once 4,096 connections wait to be accepted.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 30, 0))
            client.connect(path)
        expect_service(exporter, ["127.0.0.1", "127.0.0.3"])
    expect_recovery(exporter, descriptors)


def test_shutdown_with_all_event_streams_open_takes_less_than_a_second(start):
    exporter = start.exporter("--feed.demo")
    with contextlib.ExitStack() as stack:
        statuses = []
        for number in range(500):
            client = stack.enter_context(connect(exporter.port, source=f"127.0.0.{1 + number % 8}"))
            client.sendall(LISTEN)
            statuses.append(client.recv(12))
        assert statuses.count(b"HTTP/1.1 200") == 256 and statuses.count(b"HTTP/1.1 503") == 244
        began = time.monotonic()
        exporter.signal(signal.SIGTERM)
        assert exporter.wait() == 0
        assert time.monotonic() - began < (10 if IS_SANITIZED else 1)


def test_connections_beyond_the_sixteenth_of_an_address_pause_after_each_request(start):
    """Otherwise the threads of one address would leave little CPU time for scrapes of others."""
    exporter = start.exporter("--feed.demo")
    with contextlib.ExitStack() as stack:
        for _ in range(16):
            first = stack.enter_context(connect(exporter.port))
            first.sendall(HEALTHY)
            assert first.recv(4096)
        last = stack.enter_context(connect(exporter.port))
        began = time.monotonic()
        last.sendall(HEALTHY * 50 + GOODBYE.lstrip())
        first.sendall(HEALTHY * 50)
        received = b""
        while received.count(b"200 OK") < 50:
            received += first.recv(1 << 16)
        assert last.recv(1 << 20, socket.MSG_PEEK).count(b"200 OK") < 51
        assert read_to_end(last).count(b"200 OK") == 51
        assert time.monotonic() - began >= 50 * 0.02
