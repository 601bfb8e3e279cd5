"""TLS of the web side: versions, cipher suites, client certificates."""

import gzip
import ssl
import subprocess

import pytest

from support.curl import BAD_PEER_CERTIFICATE, CurlError, curl
from support.exposition import Exposition, parse_samples
from support.raw_http import connect, read_to_end
from support.waiting import wait_for
from support.web_configuration import Client, expect_healthcheck, handshake, tls


def test_a_tls_server_serves_every_path_and_rejects_plain_http(start, authority, server, web):
    exporter = start.exporter("--feed.demo", "--web.config.file", web(tls(server)))
    client = Client(exporter, authority)
    for path in ("/metrics", "/", "/history.json", "/-/healthy"):
        assert client(path).status == 200
    assert client("/nothing").status == 404
    with pytest.raises(CurlError) as failure:
        curl(f"https://{exporter.address}/metrics")
    assert failure.value.status == BAD_PEER_CERTIFICATE
    refused = curl(f"http://{exporter.address}/metrics")
    said = "Client sent an HTTP request to an HTTPS server.\n"
    assert (refused.status, refused.text) == (400, said)
    assert refused.headers["Content-Type"] == "text/plain; charset=utf-8"


def test_a_tls_connection_ends_with_the_closing_alert(start, authority, server, web):
    exporter = start.exporter("--feed.demo", "--web.config.file", web(tls(server)))
    context = ssl.create_default_context(cafile=authority.file)
    context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF
    connection = connect(exporter.port)
    with context.wrap_socket(
        connection, server_hostname="localhost", suppress_ragged_eofs=False
    ) as client:
        client.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        # Without the alert, the end is an error.
        assert read_to_end(client).endswith(b"healthy\n")


def test_a_page_of_many_tls_records_arrives_complete(start, python_feed, authority, server, web):
    exporter = start.reader(python_feed, "--web.config.file", web(tls(server)))
    client = Client(exporter, authority)
    python_feed.send_cities(7, 5000)
    wait_for(lambda: client().body.count(b"\nairquality_index{") == 5000, "all cities")
    plain, compressed = client(), client("/metrics", "--header", "Accept-Encoding: gzip")
    for page in (plain.body, gzip.decompress(compressed.body)):
        assert len(parse_samples(page.decode())) > 30_000
        assert page.count(b"\nairquality_index{") == 5000


# MARK: Kinds of certificates


KINDS = ["RSA", "RSA-PSS", "P-256", "P-384", "P-521", "Ed25519"]


@pytest.mark.parametrize(
    "kind, usage",
    [(kind, None) for kind in KINDS]
    + [(kind, "digitalSignature") for kind in ("RSA", "P-256")]
    + [(kind, "keyEncipherment,dataEncipherment") for kind in ("RSA", "P-256")],
)
def test_certificates_of_supported_kinds_are_served(start, programs, authority, web, kind, usage):
    file = web(tls(authority.issue(f"{kind}-{str(usage)[:3]}", kind=kind, usage=usage)))
    check = ("--feed.demo", "--config.check", "--web.config.file", file)
    assert programs.run("air-quality-exporter", *check).process.returncode == 0
    client = Client(start.exporter("--feed.demo", "--web.config.file", file), authority)
    # In TLS 1.2, OpenSSL as a client rejects a signature key whose usage forbids signing.
    may_sign = usage is None or "digitalSignature" in usage or kind == "RSA"
    for version in ("1.2", "1.3") if may_sign else ("1.3",):
        assert client.status("/metrics", "--tlsv" + version, "--tls-max", version) == 200


@pytest.mark.parametrize("kind", ["Ed448", "P-224", "secp256k1"])
def test_certificates_of_unsupported_kinds_are_rejected_at_start_and_reload(
    start, programs, authority, server, web, kind
):
    bad = tls(authority.issue(kind, kind=kind))
    file = web(bad)
    flags = ("--feed.demo", "--web.listen-address=127.0.0.1:0", f"--web.config.file={file}")
    for more in ([], ["--config.check"]):
        # GnuTLS does not even read a key on a curve that it does not know.
        assert f"/{kind}." in programs.rejection("air-quality-exporter", *flags, *more)
    # A renewal with such a certificate leaves the last good one in force.
    exporter = start.exporter(
        "--feed.demo", "--web.config.file", web(tls(server)), "--web.enable-lifecycle"
    )
    client = Client(exporter, authority)
    web(bad)
    refused = client("/-/reload", "--request", "POST")
    assert refused.status == 500 and f"/{kind}." in refused.text
    assert client.status() == 200


def test_failed_handshakes_are_all_counted_but_logged_once(start, authority, server, web):
    policy = {"client_auth_type": "VerifyClientCertIfGiven", "client_ca_file": str(authority.file)}
    file = web(tls(server, **policy))
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


OK, NO = 200, "refused"


# Clients without a certificate, and with one that is trusted, of the recipe, foreign, expired.
@pytest.mark.parametrize(
    "policy, expected",
    [
        ("NoClientCert", [OK, OK, OK, OK, OK]),
        ("RequestClientCert", [OK, OK, OK, OK, OK]),
        ("RequireAnyClientCert", [NO, OK, OK, OK, OK]),
        ("VerifyClientCertIfGiven", [OK, OK, OK, NO, NO]),
        ("RequireAndVerifyClientCert", [NO, OK, OK, NO, NO]),
    ],
)
@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_client_certificates_are_required_and_verified_as_configured(
    start, programs, authority, server, clients, web, policy, expected, version
):
    # For the health check, which uses the newest version that the server supports.
    settings = {"client_auth_type": policy, "max_version": "TLS" + version.replace(".", "")}
    if "Verify" in policy:
        settings["client_ca_file"] = str(authority.file)
    file = web(tls(server, **settings))
    exporter = start.exporter("--feed.demo", "--web.config.file", file)
    client = Client(exporter, authority)
    tls_version = ("--tlsv" + version, "--tls-max", version)
    found = {name: client.status("/metrics", *tls_version, *clients[name]) for name in clients}
    assert found == dict(zip(clients, expected, strict=True))
    # The health check has no certificate and needs none.
    expect_healthcheck(programs, exporter.address, file)


# Names of every kind are compared in full and case-sensitively.
@pytest.mark.parametrize(
    "allowed, expected",
    [
        (["somebody.else", "prometheus.example"], OK),
        (["10.1.2.3"], OK),
        (["spiffe://example/prometheus"], OK),
        (["somebody.else"], NO),
        # The subject does not count as a name.
        (["client"], NO),
        (["Prometheus.example"], NO),
        (["example", "*.example"], NO),
        ([], NO),
    ],
)
def test_clients_are_allowed_by_the_names_of_their_certificates(
    start, authority, server, clients, web, allowed, expected
):
    policy = {"client_auth_type": "RequireAndVerifyClientCert", "client_allowed_sans": allowed}
    file = web(tls(server, **policy, client_ca_file=str(authority.file)))
    client = Client(start.exporter("--feed.demo", "--web.config.file", file), authority)
    assert client.status("/metrics", *clients["trusted"]) == expected
    assert client.status("/metrics", *clients["foreign"]) == NO


def test_the_server_signs_nothing_with_sha_1(start, authority, web):
    """Not even for clients that offer nothing else."""
    for kind, algorithm in (("RSA", "RSA"), ("P-256", "ECDSA")):
        file = web(tls(authority.issue(f"signing-{kind}", kind=kind)))
        exporter = start.exporter("--feed.demo", "--web.config.file", file)
        for digest, is_signed in (("SHA256", True), ("SHA1", False)):
            ended = subprocess.run(
                ["openssl", "s_client", "-connect", exporter.address, "-tls1_2"]
                + ["-cipher", "ALL:@SECLEVEL=0", "-sigalgs", f"{algorithm}+{digest}"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
            )
            assert (ended.returncode == 0) == is_signed, (kind, digest)


def test_http_2_is_not_offered(start, authority, server, web):
    exporter = start.exporter("--feed.demo", "--web.config.file", web(tls(server)))
    with handshake(exporter, authority, protocols=("h2", "http/1.1")) as connection:
        assert connection.selected_alpn_protocol() != "h2"
