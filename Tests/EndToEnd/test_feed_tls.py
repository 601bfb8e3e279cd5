"""Feeds with TLS: whom the client trusts, what it shows of itself, and what it makes of a server that is neither."""

import contextlib

import pytest

from certificates import CertificateAuthority
from faults import CONNECT, Fault, answering
from misbehaving import Behaviour, Peer, RawFeed, good
from peers import WebSocketFeed
from test_feed_client import check_fault
from waiting import wait_for

INDEX = "airquality_index"
DISCONNECTS = "airquality_exporter_feed_disconnects_total"
QUICK = ("--feed.reconnect-min=10ms", "--feed.reconnect-max=50ms")


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> CertificateAuthority:
    return CertificateAuthority(tmp_path_factory.mktemp("certificates") / "known")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory) -> CertificateAuthority:
    return CertificateAuthority(tmp_path_factory.mktemp("certificates") / "unknown")


@pytest.fixture(scope="module")
def contexts(authority, stranger):
    """What the server can say who it is."""
    return {
        "good": authority.issue("server").server_context(),
        "of an unknown authority": stranger.issue("stranger").server_context(),
        "expired": authority.issue("expired", is_expired=True).server_context(),
        "for another name": authority.issue("other", "DNS:feed.example,IP:127.0.0.9").server_context(),
        "not asking": authority.issue("asking").server_context(client_authority=authority),
    }


def secured(context, behaviour: Behaviour) -> Behaviour:
    def behave(peer: Peer) -> None:
        peer.secure(context)
        behaviour(peer)

    return behave


def refused_by_client(context) -> Behaviour:
    """The client does not come further than this."""

    def behave(peer: Peer) -> None:
        peer.fault()
        peer.secure(context)
        peer.read_request()
        raise AssertionError("the client asked a server that it cannot trust: " + peer.request)

    return behave


def plain_answer(peer: Peer) -> None:
    peer.fault()
    peer.socket.recv(1000)
    peer.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def silence(peer: Peer) -> None:
    peer.fault()
    peer.read_nothing()


def end_of_stream(peer: Peer) -> None:
    peer.fault()


def end_without_goodbye(peer: Peer) -> None:
    """The TCP connection ends inside TLS, as it does when somebody in between cuts it."""
    good_until_reading(peer)
    peer.end_sending()
    # From here on Python's socket knows nothing of TLS any more.
    with contextlib.suppress(OSError):
        while peer.socket.recv(1000):
            pass


def goodbye_of_tls_only(peer: Peer) -> None:
    good_until_reading(peer)
    # The client may hang up without a goodbye of its own.
    with contextlib.suppress(OSError):
        peer.socket.unwrap()


def good_until_reading(peer: Peer) -> None:
    peer.open()
    peer.send_reading(1)
    peer.wait_for_pong(b"before the fault")
    peer.fault()


FAULTS = [
    ("wss to a server without TLS", "tls", 0, lambda contexts: plain_answer),
    ("no answer to the TLS handshake", "timeout", CONNECT, lambda contexts: silence),
    ("end of stream instead of the TLS handshake", "tls", 0, lambda contexts: end_of_stream),
    *(
        (f"certificate {kind}", "tls", 0, lambda contexts, kind=kind: refused_by_client(contexts[kind]))
        for kind in ("of an unknown authority", "expired", "for another name")
    ),
    ("TLS: end of stream", "lost", 0, lambda contexts: secured(contexts["good"], end_without_goodbye)),
    ("TLS: its goodbye without a close frame", "lost", 0, lambda contexts: secured(contexts["good"], goodbye_of_tls_only)),
    (
        "TLS: redirect to a server without", "handshake", 0,
        lambda contexts: secured(
            contexts["good"],
            lambda peer: answering(f"HTTP/1.1 302 Found\nLocation: ws://127.0.0.1:{peer.feed.port}/")(peer))),
]


@pytest.mark.parametrize("name, reason, limit, act", FAULTS, ids=[row[0] for row in FAULTS])
def test_fault(start, table, authority, contexts, name, reason, limit, act):
    fault = Fault(
        name, act(contexts), reason, limit, is_after_reading=reason == "lost",
        flags={"--feed.ca-file": str(authority.file)})
    with RawFeed(fault.act, secured(contexts["good"], good)) as feed:
        check_fault(start, table, fault, feed, f"wss://127.0.0.1:{feed.port}/")


@pytest.fixture
def secure_feed(contexts):
    feed = WebSocketFeed(ssl=contexts["good"])
    yield feed
    feed.stop()


def test_own_authority_and_name(start, secure_feed, authority):
    exporter = start.exporter(
        "--feed.url", f"wss://localhost:{secure_feed.port}/", "--feed.ca-file", str(authority.file))
    secure_feed.wait_for_client()
    secure_feed.send([{"city": f"City {number}", "aqi": number} for number in range(5000)])
    exporter.wait_for_sample("airquality_exporter_cities", 5000)
    assert exporter.scrape().value(
        "airquality_exporter_feed_connected", feed=f"wss://localhost:{secure_feed.port}/") == 1
    assert secure_feed.requests[0].headers["Host"] == f"localhost:{secure_feed.port}"


def test_an_unknown_authority_needs_the_flag_that_skips_verification(start, secure_feed):
    url = f"wss://127.0.0.1:{secure_feed.port}/"
    exporter = start.exporter("--feed.url", url, *QUICK)
    wait_for(lambda: exporter.scrape().value(DISCONNECTS, reason="tls") >= 2, "refusals of the certificate")
    assert not secure_feed.requests
    exporter = start.exporter("--feed.url", url, *QUICK, "--feed.insecure-skip-verify")
    secure_feed.wait_for_client()
    secure_feed.send([{"city": "Pune", "aqi": 7}])
    exporter.wait_for_sample(INDEX, 7, city="Pune")
    assert [line for line in exporter.errors if "level=WARN" in line and "feed.insecure-skip-verify" in line]


def test_client_certificate(start, contexts, authority):
    certificate = authority.issue("client")
    feed = WebSocketFeed(ssl=contexts["not asking"])
    try:
        flags = ("--feed.url", f"wss://127.0.0.1:{feed.port}/", *QUICK, "--feed.ca-file", str(authority.file))
        exporter = start.exporter(*flags)
        # TLS 1.3 tells the client after its own part of the handshake.
        wait_for(
            lambda: sum(exporter.scrape().nonzero(DISCONNECTS, "reason").values()) >= 2, "refusals by the server")
        assert set(exporter.scrape().nonzero(DISCONNECTS, "reason")) <= {"tls", "lost"}
        assert not feed.requests
        exporter = start.exporter(
            *flags, "--feed.cert-file", str(certificate.file), "--feed.key-file", str(certificate.key))
        feed.wait_for_client()
        feed.send([{"city": "Pune", "aqi": 7}])
        exporter.wait_for_sample(INDEX, 7, city="Pune")
        assert exporter.scrape().nonzero(DISCONNECTS, "reason") == {}
    finally:
        feed.stop()
