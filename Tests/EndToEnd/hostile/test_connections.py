"""More connections than there may be: clients at other addresses are still served, and SIGTERM ends the program."""

import contextlib
import resource
import socket
import struct
import time

import pytest

from support.memory import returns_memory
from support.programs import Exporter
from support.raw_http import connect, parse_answers
from support.waiting import wait_for

pytestmark = pytest.mark.long

SCRAPE = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.fixture(autouse=True)
def many_descriptors():
    """The crowd is this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 10_000), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def scrape(port: int, source: str) -> int:
    """The status of a scrape from that address."""
    with connect(port, source=source) as client:
        client.sendall(SCRAPE)
        received = b""
        while part := client.recv(1 << 16):
            received += part
    return parse_answers(received)[0].status


def expect_service(exporter: Exporter, sources: list[str]) -> None:
    """A scraper at each address is served at once, however many connections others have."""
    for source in sources:
        for _ in range(5):
            began = time.monotonic()
            assert scrape(exporter.port, source) == 200
            assert time.monotonic() - began < 5


def expect_recovery(exporter: Exporter, descriptors: int) -> None:
    wait_for(lambda: exporter.descriptor_count <= descriptors + 5, "the end of all connections")
    assert exporter.get("/metrics").status == 200
    assert exporter.get("/-/healthy").status == 200


@pytest.mark.parametrize("is_asking", [False, True])
def test_4300_connections_from_two_addresses(start, is_asking):
    exporter = start.exporter("--feed.demo")
    descriptors = exporter.descriptor_count
    # Without a scrape in between.
    with returns_memory(exporter):
        for _ in range(2):
            with contextlib.ExitStack() as stack:
                for number in range(4300):
                    client = stack.enter_context(connect(exporter.port, source=f"127.0.0.{1 + number % 2}"))
                    if is_asking:
                        with contextlib.suppress(OSError):
                            client.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n")
                expect_service(exporter, ["127.0.0.3", "127.0.0.4"])
            wait_for(lambda: exporter.descriptor_count <= descriptors + 5, "the end of all connections")
    expect_recovery(exporter, descriptors)


def test_100_connections_with_64_open_files(programs, start, tmp_path):
    script = tmp_path / "few"
    script.write_text(f'#!/bin/sh\nulimit -n 64\nexec "{programs.folder}/air-quality-exporter" "$@"\n')
    script.chmod(0o755)
    exporter = start._keep(Exporter(script, ("--feed.demo", "--storage.file", str(tmp_path / "storage"))))
    descriptors = exporter.descriptor_count
    with returns_memory(exporter), contextlib.ExitStack() as stack:
        clients = [stack.enter_context(connect(exporter.port, source=f"127.0.0.{1 + n % 2}")) for n in range(100)]
        for client in clients:
            with contextlib.suppress(OSError):
                client.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n")
        expect_service(exporter, ["127.0.0.3", "127.0.0.4"])
        served = 0
        for client in clients:
            client.setblocking(False)
            with contextlib.suppress(OSError):
                served += client.recv(100).startswith(b"HTTP/1.1 200 ")
        assert served > 10
        # What is left is for the rest of the program.
        assert exporter.descriptor_count <= 56
        assert exporter.scrape().value("airquality_exporter_feed_connected", feed="demo") == 1
    expect_recovery(exporter, descriptors)


def test_one_client_of_a_unix_socket(start, tmp_path):
    path = str(tmp_path / "web.sock")
    exporter = start.exporter("--feed.demo", "--web.listen-address", f"unix:{path}")
    descriptors = exporter.descriptor_count
    with returns_memory(exporter), contextlib.ExitStack() as stack:
        for _ in range(4300):
            client = stack.enter_context(socket.socket(socket.AF_UNIX))
            # With a timeout of Python's own it would fail as soon as 4,096 wait to be accepted.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 30, 0))
            client.connect(path)
        expect_service(exporter, ["127.0.0.1", "127.0.0.3"])
    expect_recovery(exporter, descriptors)
