"""TLS handshakes at once from one address: those of another go on beside them, and so do the first one's, in time."""

import contextlib
import selectors
import ssl
import time

import pytest

from support import certificates
from support.greedy import ADDRESS
from support.memory import returns_memory
from support.raw_http import connect
from support.waiting import wait_for

pytestmark = pytest.mark.long

COUNT = 200
SCRAPE = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.fixture
def exporter(start, tmp_path, monkeypatch):
    """With a key for which a signature takes milliseconds."""
    monkeypatch.setitem(certificates.KEYS, "rsa:4096", ("rsa:4096",))
    certificate = certificates.CertificateAuthority(tmp_path / "authority").issue("server", kind="rsa:4096")
    (tmp_path / "web.yml").write_text(
        f"tls_server_config: {{cert_file: {certificate.file}, key_file: {certificate.key}}}\n")
    return start.exporter("--feed.demo", "--web.config.file", str(tmp_path / "web.yml"))


@pytest.fixture
def context(exporter, tmp_path):
    return ssl.create_default_context(cafile=str(tmp_path / "authority" / "authority.pem"))


def first_message(context: ssl.SSLContext) -> bytes:
    """What a client begins with. To send it again and again costs the client nothing."""
    outgoing = ssl.MemoryBIO()
    session = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        session.do_handshake()
    return outgoing.read()


def scrape(port: int, context: ssl.SSLContext) -> None:
    with context.wrap_socket(connect(port, 60), server_hostname="localhost") as client:
        client.sendall(SCRAPE)
        assert client.recv(100).startswith(b"HTTP/1.1 200 ")


def wait_for_answers(clients: list, seconds: float) -> int:
    """How many of them get an answer to their first message within that time."""
    answered = 0
    end = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        for client in clients:
            selector.register(client, selectors.EVENT_READ)
        while selector.get_map() and (ready := selector.select(max(0, end - time.monotonic()))):
            for key, _ in ready:
                # A record of the handshake, not an alert; nothing at an end.
                with contextlib.suppress(OSError):
                    answered += key.fileobj.recv(1) == b"\x16"
                selector.unregister(key.fileobj)
    return answered


def test_another_address_comes_before_the_last_of_two_hundred_handshakes(exporter, context):
    scrape(exporter.port, context)
    message = first_message(context)
    before = exporter.descriptor_count
    with returns_memory(exporter), contextlib.ExitStack() as stack:
        clients = [stack.enter_context(connect(exporter.port, source=ADDRESS)) for _ in range(COUNT)]
        for client in clients:
            client.sendall(message)
        began = time.monotonic()
        scrape(exporter.port, context)
        print(f"a scrape beside {COUNT} handshakes took {(time.monotonic() - began) * 1000:.0f} ms")
        # Whose time is their own address's quarter of the serving thread's.
        assert wait_for_answers(clients, 0) < COUNT
    wait_for(lambda: exporter.descriptor_count <= before + 2, "the end of all connections")
    scrape(exporter.port, context)


def test_handshakes_of_one_address_come_to_their_turn_and_too_many_of_them_fail(exporter, context):
    message = first_message(context)
    for count in (400, 50):
        with returns_memory(exporter), contextlib.ExitStack() as stack:
            clients = [stack.enter_context(connect(exporter.port, source=ADDRESS)) for _ in range(count)]
            for client in clients:
                # Some are closed before all have sent theirs.
                with contextlib.suppress(OSError):
                    client.sendall(message)
            answered = wait_for_answers(clients, 30)
            scrape(exporter.port, context)
        if count == 50:
            assert answered == count
        else:
            assert answered < count
