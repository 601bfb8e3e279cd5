"""Feeds over TLS: whom the client trusts, and which certificate it presents."""

import re
import ssl
import subprocess

import pytest

from support import metrics, raw_feed
from support.peers import WebSocketFeed
from support.waiting import wait_for

EXPIRY = "airquality_exporter_feed_certificate_expiry_timestamp_seconds"
QUICK = ("--feed.reconnect-min=10ms", "--feed.reconnect-max=50ms")


@pytest.fixture
def secure_feed(contexts):
    with WebSocketFeed(ssl=contexts["good"]) as feed:
        yield feed


@pytest.mark.parametrize("file", ["authority.pem", "server.pem"])
def test_a_feed_is_verified_with_its_configured_authority(start, secure_feed, authority, file):
    exporter = start.exporter(
        "--feed.url", f"wss://localhost:{secure_feed.port}/",
        "--feed.ca-file", str(authority.folder / file),
    )
    secure_feed.wait_for_client()
    secure_feed.send([{"city": f"City {number}", "aqi": number} for number in range(5000)])
    exporter.wait_for_sample(metrics.CITIES, 5000)
    assert exporter.scrape().value(
        metrics.CONNECTED, feed=f"wss://localhost:{secure_feed.port}/") == 1
    assert secure_feed.requests[0].headers["Host"] == f"localhost:{secure_feed.port}"


def test_the_expiry_of_the_certificate_is_shown_while_connected(start, secure_feed, authority):
    url = f"wss://localhost:{secure_feed.port}/"
    exporter = start.exporter(
        "--feed.url", url, "--feed.ca-file", str(authority.file), "--feed.reconnect-min=30s"
    )
    secure_feed.wait_for_client()
    expiry = exporter.wait_for_sample(EXPIRY, feed=url)
    command = ["openssl", "x509", "-enddate", "-noout", "-in", str(authority.folder / "server.pem")]
    date = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert expiry == ssl.cert_time_to_seconds(date.strip().removeprefix("notAfter="))
    secure_feed.close_clients()
    exporter.wait_for_sample(metrics.DISCONNECTS, 1, reason="closed")
    assert not exporter.scrape().samples(EXPIRY)


def test_a_feed_without_tls_has_no_expiry(start):
    with WebSocketFeed() as feed:
        exporter = start.reader(feed)
        exporter.wait_for_sample(metrics.CONNECTED, 1)
        assert not exporter.scrape().samples(EXPIRY)


def test_a_feed_of_an_unknown_authority_is_read_only_without_verification(start, secure_feed):
    url = f"wss://127.0.0.1:{secure_feed.port}/"
    exporter = start.exporter("--feed.url", url, *QUICK)
    exporter.wait_for_sample(metrics.DISCONNECTS, at_least=2, reason="tls")
    assert not secure_feed.requests
    exporter = start.exporter("--feed.url", url, *QUICK, "--feed.insecure-skip-verify")
    secure_feed.wait_for_client()
    secure_feed.send([{"city": "Pune", "aqi": 7}])
    exporter.wait_for_sample(metrics.INDEX, 7, city="Pune")
    assert "level=WARN" in exporter.wait_for_line("feed.insecure-skip-verify")


def test_the_file_of_authorities_is_read_again_for_each_connection(
    start, secure_feed, authority, stranger, tmp_path
):
    file = tmp_path / "authorities.pem"
    file.write_bytes(stranger.file.read_bytes())
    url = f"wss://localhost:{secure_feed.port}/"
    exporter = start.exporter("--feed.url", url, *QUICK, "--feed.ca-file", str(file))
    exporter.wait_for_line("the server's certificate: unable to get local issuer certificate")
    (tmp_path / "new").write_bytes(authority.file.read_bytes())
    (tmp_path / "new").replace(file)
    secure_feed.wait_for_client()


@pytest.mark.parametrize(
    "host, said", [("localhost", "hostname mismatch"), ("127.0.0.1", "IP address mismatch")]
)
def test_a_certificate_for_another_name_is_rejected(start, contexts, authority, host, said):
    with WebSocketFeed(ssl=contexts["for another name"]) as feed:
        exporter = start.exporter(
            "--feed.url", f"wss://{host}:{feed.port}/", "--feed.ca-file", str(authority.file)
        )
        exporter.wait_for_line(f"the server's certificate: {said}")
        assert not feed.requests


def test_a_client_certificate_is_presented_to_a_server_that_requires_it(start, contexts, authority):
    certificate = authority.issue("client")
    with WebSocketFeed(ssl=contexts["not asking"]) as feed:
        flags = (
            "--feed.url", f"wss://127.0.0.1:{feed.port}/",
            *QUICK,
            "--feed.ca-file", str(authority.file),
        )
        exporter = start.exporter(*flags)
        # In TLS 1.3, the client learns of the rejection after its part of the handshake.
        wait_for(
            lambda: sum(exporter.scrape().nonzero(metrics.DISCONNECTS, "reason").values()) >= 2,
            "rejections by the server",
        )
        assert set(exporter.scrape().nonzero(metrics.DISCONNECTS, "reason")) <= {"tls", "lost"}
        assert not feed.requests
        exporter = start.exporter(
            *flags,
            "--feed.cert-file", str(certificate.file),
            "--feed.key-file", str(certificate.key),
        )
        feed.wait_for_client()
        feed.send([{"city": "Pune", "aqi": 7}])
        exporter.wait_for_sample(metrics.INDEX, 7, city="Pune")
        assert exporter.scrape().nonzero(metrics.DISCONNECTS, "reason") == {}


def test_a_tls_renegotiation_is_rejected_and_the_feed_is_reconnected(start, authority):
    """openssl's `R` requests another handshake and exits when that is rejected."""
    certificate = authority.issue("renegotiating")
    server = subprocess.Popen(
        [
            "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", certificate.file, "-key",
            certificate.key, "-tls1_2",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        lines = iter(server.stdout.readline, b"")
        port = next(
            found[1].decode() for line in lines if (found := re.match(rb"ACCEPT .*:(\d+)", line))
        )
        exporter = start.exporter(
            "--feed.url", f"wss://127.0.0.1:{port}/",
            "--feed.ca-file", str(authority.file),
            "--feed.subscribe=hello",
        )
        key = next(
            found[1] for line in lines if (found := re.match(rb"Sec-WebSocket-Key: (\S+)", line))
        )

        # A line of one letter is a command to openssl.
        def send(text: bytes) -> None:
            server.stdin.write(text)
            server.stdin.flush()

        send(raw_feed.switching(raw_feed.accept(key.decode())))
        exporter.wait_for_sample(metrics.CONNECTED, 1)
        send(b"R\n")
        assert next(line for line in lines if line.startswith(b"Sec-WebSocket-Key: ")), (
            "it is dialled again"
        )
        assert exporter.is_running and exporter.scrape().value(metrics.ATTEMPTS) >= 2
    finally:
        server.kill()
        server.wait()
