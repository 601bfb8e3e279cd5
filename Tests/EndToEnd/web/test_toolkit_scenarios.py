"""The scenarios of the exporter-toolkit's own tests (tls_config_test.go, san_test.go and
rate_limit_test.go in its folder web), rewritten: what it serves is served here. Scenarios that fail
at the start are in WebConfigurationTests, the others in test_tls.py and test_web_configuration.py.

Where the outcome differs from the toolkit's, `unlike` says why.
"""

import base64
import dataclasses
import json
import pathlib
import re
import signal
import ssl

import pytest

from support.certificates import CertificateAuthority, openssl
from support.raw_http import connect, exchange, parse_responses, read_to_end
from support.waiting import wait_for
from support.web_configuration import HASHES

PAIR = "  cert_file: server.pem\n  key_file: server.key\n"
TLS = "tls_server_config:\n" + PAIR
USERS = f"basic_auth_users:\n  dave: {HASHES['secret']}\n  carol: {HASHES['other']}\n"


def tls(*lines: str) -> str:
    return TLS + "".join(f"  {line}\n" for line in lines)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> pathlib.Path:
    """The folder of the configuration and of the files that it names."""
    folder = tmp_path_factory.mktemp("toolkit")
    authority = CertificateAuthority(folder / "authority")
    (folder / "authority.pem").write_bytes(authority.file.read_bytes())
    # Like the toolkit's own certificate.
    server = authority.issue("server", kind="RSA", usage="keyEncipherment,dataEncipherment")
    (folder / "server.pem").write_bytes(server.file.read_bytes())
    (folder / "server.key").write_bytes(server.key.read_bytes())
    openssl(
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=client2", "-days", "10",
        "-addext", "subjectAltName=DNS:one,DNS:two,IP:127.0.0.1,URI:spiffe://one/two", "-keyout",
        folder / "client2.key", "-out", folder / "client2.pem",
    )
    pair = {"cert": server.file.read_text(), "key": server.key.read_text()}
    (folder / "inline").write_text(json.dumps({"tls_server_config": pair}))
    return folder


def write(folder: pathlib.Path, text: str) -> str:
    """Replaces the configuration atomically and returns its path."""
    file = folder / "web.yml"
    (folder / "new").write_text((folder / text[1:]).read_text() if text.startswith("@") else text)
    (folder / "new").replace(file)
    return str(file)


@dataclasses.dataclass
class Scenario:
    """A configuration, a client, and the expected status or alert, by OpenSSL's name."""

    configuration: str
    outcome: int | str
    #: None: plain HTTP.
    client: dict | None = dataclasses.field(default_factory=dict)
    cipher: str | None = None
    #: How the toolkit behaves instead, and why.
    unlike: str = ""


def suites(*names: str) -> tuple[str, ...]:
    return (
        "max_version: TLS12",
        f"cipher_suites: [{', '.join('TLS_ECDHE_RSA_WITH_' + name for name in names)}]",
    )


SOME = suites("AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305_SHA256")
BOTH = "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256"
REQUIRED = ("client_auth_type: RequireAndVerifyClientCert", "client_ca_file: client2.pem")
#: The connection ends, with an alert if the library sends one.
NO_TLS = "no TLS"
BLOCKING = tls("client_auth_type: RequireAndVerifyClientCert", "client_ca_file: authority.pem")

SCENARIOS = {
    "only non-enabling fields set": Scenario(
        "tls_server_config: {min_version: TLS12}\n", 200, client=None
    ),
    "plain config and TLS client": Scenario("", NO_TLS),
    "cert and key inline": Scenario("@inline", 200),
    "explicit versions are preserved": Scenario(
        tls("min_version: TLS13", "max_version: TLS13"),
        NO_TLS,
        {"maximum": ssl.TLSVersion.TLSv1_2},
    ),
    "all ciphers": Scenario(
        tls(
            *suites(
                "AES_128_CBC_SHA", "AES_256_CBC_SHA", "AES_128_GCM_SHA256", "AES_256_GCM_SHA384",
                "CHACHA20_POLY1305_SHA256",
            )
        ),
        200,
    ),
    "some ciphers": Scenario(tls(*SOME), 200, {"ciphers": "ECDHE-RSA-AES128-GCM-SHA256"}),
    "no common cipher": Scenario(tls(*SOME), NO_TLS, {"ciphers": "ECDHE-RSA-AES256-SHA"}),
    "multiple client ciphers": Scenario(
        tls(*SOME), 200, {"ciphers": BOTH}, "ECDHE-RSA-AES128-GCM-SHA256"
    ),
    "multiple client ciphers, client chooses cipher": Scenario(
        tls(*SOME, "prefer_server_cipher_suites: false"),
        200,
        {"ciphers": BOTH},
        "ECDHE-RSA-AES128-GCM-SHA256",
    ),
    "all curves": Scenario(
        tls("curve_preferences: [CurveP256, CurveP384, CurveP521, X25519]"), 200
    ),
    "some curves": Scenario(tls("curve_preferences: [CurveP521]"), 200, {"curve": "secp521r1"}),
    "no common curves": Scenario(
        tls("curve_preferences: [CurveP521]"), NO_TLS, {"curve": "secp384r1"}
    ),
    "non-http2 ciphers": Scenario(
        tls(*suites("AES_128_CBC_SHA")) + "http_server_config: {http2: false}\n", 200
    ),
    "non-http2 ciphers but http2 enabled": Scenario(
        tls(*suites("AES_128_CBC_SHA")),
        200,
        unlike="The toolkit refuses to start without a suite that HTTP/2 needs. Here HTTP/1.1 is "
        "spoken, which needs none.",
    ),
    # The certificate is its own authority.
    "present good SAN DNS entry": Scenario(
        tls(*REQUIRED, "client_allowed_sans: [three, two]"), 200, {"certificate": "client2"}
    ),
    "allowed SANs without a client certificate": Scenario(
        tls(
            "client_auth_type: VerifyClientCertIfGiven",
            "client_ca_file: client2.pem",
            "client_allowed_sans: [one]",
        ),
        NO_TLS,
    ),
    "without basic auth and TLS": Scenario(TLS + USERS, 401),
    "with correct basic auth and TLS": Scenario(TLS + USERS, 200, {"user": "dave:secret"}),
    "with bad password and TLS": Scenario(TLS + USERS, 401, {"user": "dave:bad"}),
}


def ask(
    port: int,
    folder: pathlib.Path,
    maximum: ssl.TLSVersion | None = None,
    ciphers: str | None = None,
    curve: str | None = None,
    certificate: str | None = None,
    user: str | None = None,
    expects_alert: bool = False,
) -> tuple[int | str, str | None]:
    """The status and the cipher suite over TLS, or the alert by OpenSSL's name, which in TLS 1.3
    arrives after the client's handshake."""
    context = ssl.create_default_context(cafile=folder / "authority.pem")
    if maximum:
        context.minimum_version = context.maximum_version = maximum
        context.set_ciphers("ALL:@SECLEVEL=0")
    if ciphers:
        context.set_ciphers(ciphers)
    if curve:
        context.set_ecdh_curve(curve)
    if certificate:
        context.load_cert_chain(folder / f"{certificate}.pem", folder / f"{certificate}.key")
    try:
        with (
            connect(port) as plain,
            context.wrap_socket(plain, server_hostname="localhost") as client,
        ):
            if not expects_alert:
                client.sendall(request(user))
            received = read_to_end(client)
            if not received:
                return NO_TLS, None
            return parse_responses(received)[0].status, client.cipher()[0]
    except ConnectionError:
        return NO_TLS, None
    except ssl.SSLError as error:
        # A response in plain text or an end without one, depending on the random bytes of the
        # ClientHello.
        ended = isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError))
        is_rejected = ended or re.search("ALERT|^WRONG_VERSION_NUMBER$", error.reason or "")
        return NO_TLS if is_rejected else error.reason, None


def request(user: str | None = None) -> bytes:
    fields = "Host: localhost\r\nConnection: close\r\n"
    if user:
        fields += f"Authorization: Basic {base64.b64encode(user.encode()).decode()}\r\n"
    return f"GET /metrics HTTP/1.1\r\n{fields}\r\n".encode()


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_toolkit_scenario_has_the_expected_outcome(start, folder, name):
    scenario = SCENARIOS[name]
    file = write(folder, scenario.configuration)
    exporter = start.exporter("--feed.demo", "--web.config.file", file)
    if scenario.client is None:
        outcome, cipher = parse_responses(exchange(exporter.port, request()))[0].status, None
    else:
        options = scenario.client | {"expects_alert": isinstance(scenario.outcome, str)}
        outcome, cipher = ask(exporter.port, folder, **options)
    assert outcome == scenario.outcome
    assert scenario.cipher in (None, cipher)


def test_a_reload_without_client_authentication_lets_clients_in_again(start, folder):
    exporter = start.exporter("--feed.demo", "--web.config.file", write(folder, BLOCKING))
    assert ask(exporter.port, folder, expects_alert=True)[0] == NO_TLS
    write(folder, TLS)
    exporter.signal(signal.SIGHUP)
    wait_for(lambda: ask(exporter.port, folder)[0] == 200, "the end of the block")


def test_a_changed_rate_limit_takes_effect_while_running(start, folder):
    limited = "rate_limit:\n  interval: 1h\n  burst: 1\n"
    exporter = start.exporter("--feed.demo", "--web.config.file", write(folder, limited))

    def status() -> int:
        return exporter.get("/metrics").status

    assert [status(), status()] == [200, 429]
    write(folder, "http_server_config:\n  http2: true\n")
    wait_for(lambda: status() == 200, "the end of the limit")
    assert [status() for _ in range(10)] == [200] * 10
    write(folder, limited)
    # The bucket starts full, so one request may succeed.
    wait_for(lambda: status() == 429, "the limit")
    assert status() == 429
