"""TLS of the web side: versions, cipher suites, client certificates."""

import gzip
import ssl

import pytest

from support.curl import BAD_PEER_CERTIFICATE, CurlError, curl
from support.exposition import Exposition, parse_samples
from support.peers import WebSocketFeed
from support.raw_http import connect
from support.waiting import wait_for
from support.web_configuration import Client, expect_healthcheck, handshake, tls


def test_tls_is_spoken_and_nothing_else(start, authority, server, web):
    exporter = start.exporter("--feed.demo", "--web.config.file", web(tls(server)))
    client = Client(exporter, authority)
    for path, status in [
        ("/metrics", 200),
        ("/", 200),
        ("/history.json", 200),
        ("/-/healthy", 200),
        ("/nothing", 404),
    ]:
        assert client(path).status == status
    with pytest.raises(CurlError) as failure:
        curl(f"https://{exporter.address}/metrics")
    assert failure.value.status == BAD_PEER_CERTIFICATE
    refused = curl(f"http://{exporter.address}/metrics")
    assert (refused.status, refused.text) == (
        400,
        "Client sent an HTTP request to an HTTPS server.\n",
    )
    assert refused.headers["Content-Type"] == "text/plain; charset=utf-8"


def test_a_page_of_many_tls_records_is_whole(start, authority, server, web):
    feed = WebSocketFeed()
    try:
        exporter = start.exporter("--feed.url", feed.url, "--web.config.file", web(tls(server)))
        client = Client(exporter, authority)
        feed.wait_for_client()
        feed.send([{"city": f"City {number}", "aqi": number % 500} for number in range(5000)])
        wait_for(lambda: client().body.count(b"\nairquality_index{") == 5000, "all cities")
        plain, compressed = client(), client("/metrics", "--header", "Accept-Encoding: gzip")
        for page in (plain.body, gzip.decompress(compressed.body)):
            assert len(parse_samples(page.decode())) > 30_000
            assert page.count(b"\nairquality_index{") == 5000
    finally:
        feed.stop()


@pytest.mark.parametrize(
    "settings, version, cipher",
    [
        ({}, "TLSv1.3", None),
        ({"max_version": "TLS12"}, "TLSv1.2", None),
        ({"min_version": "TLS13"}, "TLSv1.3", None),
        (
            {
                "max_version": "TLS12",
                "cipher_suites": ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"],
            },
            "TLSv1.2",
            "ECDHE-ECDSA-CHACHA20-POLY1305",
        ),
        (
            {"max_version": "TLS12", "cipher_suites": ["TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"]},
            "TLSv1.2",
            "ECDHE-ECDSA-AES256-GCM-SHA384",
        ),
    ],
)
def test_versions_and_cipher_suites_are_those_configured(
    start, authority, server, web, settings, version, cipher
):
    exporter = start.exporter("--feed.demo", "--web.config.file", web(tls(server, **settings)))
    with handshake(exporter, authority) as connection:
        assert connection.version() == version
        assert cipher in (None, connection.cipher()[0])
    if settings.get("min_version") == "TLS13":
        with pytest.raises(ssl.SSLError):
            handshake(exporter, authority, maximum=ssl.TLSVersion.TLSv1_2).close()


# MARK: Kinds of certificates


@pytest.mark.parametrize("usage", [None, "digitalSignature", "keyEncipherment,dataEncipherment"])
@pytest.mark.parametrize("kind", ["RSA", "RSA-PSS", "P-256", "P-384", "P-521", "Ed25519"])
def test_certificates_of_each_kind_are_served(start, programs, authority, web, kind, usage):
    file = web(tls(authority.issue(f"{kind}-{str(usage)[:3]}", kind=kind, usage=usage)))
    assert (
        programs.run(
            "air-quality-exporter", "--feed.demo", "--config.check", "--web.config.file", file
        ).process.returncode
        == 0
    )
    client = Client(start.exporter("--feed.demo", "--web.config.file", file), authority)
    # In TLS 1.2 OpenSSL refuses a key for signatures alone that may not sign, as a client.
    for version in (
        ("1.3",)
        if usage and "digitalSignature" not in usage and "RSA" not in kind
        else ("1.2", "1.3")
    ):
        assert client.status("/metrics", "--tlsv" + version, "--tls-max", version) == 200


@pytest.mark.parametrize("kind", ["Ed448", "P-224", "secp256k1"])
def test_certificates_that_cannot_be_served_are_rejected(
    start, programs, authority, server, web, kind
):
    bad = tls(authority.issue(kind, kind=kind))
    file = web(bad)
    for flags in ([], ["--config.check"]):
        ended = programs.run(
            "air-quality-exporter",
            "--feed.demo",
            "--web.listen-address", "127.0.0.1:0",
            "--web.config.file", file,
            *flags,
        )
        assert ended.process.returncode == 1 and not ended.output
        # GnuTLS does not even read a key of a curve that it does not know.
        assert len(ended.errors) == 1 and f"/{kind}." in ended.errors[0], ended.errors
    # A renewal that brings such a one leaves the last good one in force.
    exporter = start.exporter(
        "--feed.demo", "--web.config.file", web(tls(server)), "--web.enable-lifecycle"
    )
    client = Client(exporter, authority)
    web(bad)
    refused = client("/-/reload", "--request", "POST")
    assert refused.status == 500 and f"/{kind}." in refused.text
    assert client.status() == 200


def test_failed_handshakes_are_counted_and_logged_once(start, authority, server, web):
    file = web(
        tls(server, client_auth_type="VerifyClientCertIfGiven", client_ca_file=str(authority.file))
    )
    exporter = start.exporter("--feed.demo", "--web.config.file", file)
    client = Client(exporter, authority)

    def failures() -> float:
        return Exposition(client().text).value("airquality_exporter_tls_handshake_failures_total")

    assert failures() == 0
    for number in range(5):
        with pytest.raises((ssl.SSLError, ConnectionError)):
            context = ssl.create_default_context(cafile=authority.file)
            context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
            context.set_ciphers("ALL:@SECLEVEL=0")
            with connect(exporter.port) as plain:
                context.wrap_socket(plain, server_hostname="localhost")
    wait_for(lambda: failures() == 5, "all failures")
    assert exporter.count_lines("TLS handshake failed") == 1
    assert any('client=127.0.0.1 err="handshake failed"' in line for line in exporter.errors)


def test_without_tls_there_are_no_handshakes_to_count(start):
    assert (
        not start.exporter("--feed.demo")
        .scrape()
        .samples("airquality_exporter_tls_handshake_failures_total")
    )


OK, NO = 200, "refused"


@pytest.mark.parametrize(
    "policy, expected",
    [
        ("NoClientCert", {"none": OK, "trusted": OK, "foreign": OK, "expired": OK}),
        ("RequestClientCert", {"none": OK, "trusted": OK, "foreign": OK, "expired": OK}),
        ("RequireAnyClientCert", {"none": NO, "trusted": OK, "foreign": OK, "expired": OK}),
        ("VerifyClientCertIfGiven", {"none": OK, "trusted": OK, "foreign": NO, "expired": NO}),
        ("RequireAndVerifyClientCert", {"none": NO, "trusted": OK, "foreign": NO, "expired": NO}),
    ],
)
@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_client_certificates_are_asked_for_as_configured(
    start, programs, authority, server, clients, web, policy, expected, version
):
    settings = {"client_auth_type": policy}
    if "Verify" in policy:
        settings["client_ca_file"] = str(authority.file)
    file = web(tls(server, **settings))
    exporter = start.exporter("--feed.demo", "--web.config.file", file)
    client = Client(exporter, authority)
    tls_version = ("--tlsv" + version, "--tls-max", version)
    assert {
        name: client.status("/metrics", *tls_version, *clients[name]) for name in expected
    } == expected
    # The health check has no certificate, and needs none.
    expect_healthcheck(programs, exporter.address, file)


# HTTPTLSTests has more of them.
@pytest.mark.parametrize(
    "allowed, expected", [(["somebody.else", "prometheus.example"], OK), (["somebody.else"], NO)]
)
def test_clients_are_allowed_by_the_names_of_their_certificates(
    start, authority, server, clients, web, allowed, expected
):
    policy = {
        "client_auth_type": "RequireAndVerifyClientCert",
        "client_ca_file": str(authority.file),
    }
    file = web(tls(server, **policy, client_allowed_sans=allowed))
    client = Client(start.exporter("--feed.demo", "--web.config.file", file), authority)
    assert client.status("/metrics", *clients["trusted"]) == expected
    assert client.status("/metrics", *clients["foreign"]) == NO


