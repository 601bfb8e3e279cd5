"""Many or unfinished TLS handshakes and records: other addresses are still served, and memory is
bounded."""

import contextlib
import os
import socket
import ssl
import time

import pytest

from support import certificates
from support.greedy import ADDRESS
from support.memory import MIB, returns_memory
from support.raw_http import connect
from support.waiting import wait_for

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("limits of time")]

COUNT = 120
#: Extra seconds that a scrape may take: 0.1 is promised, but these tests share their machine.
DELAY = 0.3
SCRAPE = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.fixture(params=["rsa:4096"])
def exporter(request, start, tmp_path, monkeypatch):
    """An exporter with a key that takes milliseconds to sign, unless a test chooses another."""
    monkeypatch.setitem(certificates.KEYS, "rsa:4096", ("rsa:4096",))
    certificate = certificates.CertificateAuthority(tmp_path / "authority").issue(
        "server", kind=request.param
    )
    (tmp_path / "web.yml").write_text(
        f"tls_server_config: {{cert_file: {certificate.file}, key_file: {certificate.key}}}\n"
    )
    return start.exporter("--feed.demo", "--web.config.file", str(tmp_path / "web.yml"))


@pytest.fixture
def context(exporter, tmp_path):
    return ssl.create_default_context(cafile=str(tmp_path / "authority" / "authority.pem"))


def first_message(context: ssl.SSLContext) -> bytes:
    """The ClientHello, which a client can send over and over at no cost."""
    outgoing = ssl.MemoryBIO()
    session = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        session.do_handshake()
    return outgoing.read()


def scrape(port: int, context: ssl.SSLContext) -> None:
    with context.wrap_socket(connect(port, 60), server_hostname="localhost") as client:
        client.sendall(SCRAPE)
        assert client.recv(100).startswith(b"HTTP/1.1 200 ")


def scrape_beside(exporter, context) -> float:
    """The seconds of the slowest of five scrapes, each with its own handshake."""
    slowest = 0.0
    for _ in range(5):
        began = time.monotonic()
        scrape(exporter.port, context)
        slowest = max(slowest, time.monotonic() - began)
    return slowest


def test_many_handshakes_of_one_address_do_not_delay_scrapes_of_another(exporter, context):
    scrape(exporter.port, context)
    message = first_message(context)
    before = exporter.descriptor_count
    alone = scrape_beside(exporter, context)
    with returns_memory(exporter), contextlib.ExitStack() as stack:
        for _ in range(COUNT):
            client = stack.enter_context(connect(exporter.port, source=ADDRESS))
            with contextlib.suppress(OSError):
                client.sendall(message)
        beside = scrape_beside(exporter, context)
        print(f"alone {alone * 1000:.0f} ms, beside {COUNT} handshakes {beside * 1000:.0f} ms")
        assert beside < alone + DELAY
    wait_for(lambda: exporter.descriptor_count <= before + 2, "the end of all connections")
    scrape(exporter.port, context)


def test_unfinished_handshakes_take_no_processor_time(exporter, context):
    message = first_message(context)
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            client = stack.enter_context(connect(exporter.port, source=ADDRESS))
            client.sendall(message[: len(message) // 2])
        time.sleep(1)
        began = exporter.processor_seconds
        time.sleep(2)
        assert exporter.processor_seconds - began < 0.2


@pytest.mark.parametrize("exporter", ["P-256"], indirect=True)
@pytest.mark.parametrize("record", [b"\x17\x03\x03\x40\x00" + b"x" * 16_000, b"\x17\x03\x03"])
def test_512_connections_with_unfinished_records_take_bounded_memory(exporter, context, record):
    scrape(exporter.port, context)
    before = exporter.resident_bytes
    with returns_memory(exporter), contextlib.ExitStack() as stack:
        for number in range(512):
            plain = connect(exporter.port, 60, source=f"127.0.0.{2 + number % 4}")
            client = stack.enter_context(context.wrap_socket(plain, server_hostname="localhost"))
            socket.socket(fileno=os.dup(client.fileno())).send(record)
        more = exporter.resident_bytes - before
        print(f"{more / MIB:.0f} MiB more")
        assert more < 64 * MIB
