"""The scenarios of the exporter-toolkit's own tests (tls_config_test.go and rate_limit_test.go in
its folder web) that need a client, rewritten: what it serves is served here. Those that fail at the
start are in WebConfigurationTests, more with passwords and client certificates in
test_web_configuration.py and test_tls.py, more suites and curves in TLSPriorityTests."""

import dataclasses
import pathlib
import re
import signal
import ssl

import pytest

from support.certificates import CertificateAuthority
from support.raw_http import connect, exchange, parse_responses, read_to_end
from support.waiting import wait_for
from support.web_configuration import HASHES

PAIR = "  cert_file: server.pem\n  key_file: server.key\n"
TLS = "tls_server_config:\n" + PAIR
USERS = f"basic_auth_users: {{dave: {HASHES['secret']}}}\n"


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
    return folder


def write(folder: pathlib.Path, text: str) -> str:
    """Replaces the configuration atomically and returns its path."""
    file = folder / "web.yml"
    (folder / "new").write_text(text)
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


def suites(*names: str) -> tuple[str, ...]:
    return (
        "max_version: TLS12",
        f"cipher_suites: [{', '.join('TLS_ECDHE_RSA_WITH_' + name for name in names)}]",
    )


SOME = suites("AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305_SHA256")
BOTH = "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256"
REQUEST = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
#: The connection ends, with an alert if the library sends one.
NO_TLS = "no TLS"
BLOCKING = tls("client_auth_type: RequireAndVerifyClientCert", "client_ca_file: authority.pem")

SCENARIOS = {
    "only non-enabling fields set": Scenario(
        "tls_server_config: {min_version: TLS12}\n", 200, client=None
    ),
    "plain config and TLS client": Scenario("", NO_TLS),
    "explicit versions are preserved": Scenario(
        tls("min_version: TLS13", "max_version: TLS13"),
        NO_TLS,
        {"maximum": ssl.TLSVersion.TLSv1_2},
    ),
    "some ciphers": Scenario(tls(*SOME), 200, {"ciphers": "ECDHE-RSA-AES128-GCM-SHA256"}),
    "no common cipher": Scenario(tls(*SOME), NO_TLS, {"ciphers": "ECDHE-RSA-AES256-SHA"}),
    "multiple client ciphers, client chooses cipher": Scenario(
        tls(*SOME, "prefer_server_cipher_suites: false"),
        200,
        {"ciphers": BOTH},
        "ECDHE-RSA-AES128-GCM-SHA256",
    ),
    "some curves": Scenario(tls("curve_preferences: [CurveP521]"), 200, {"curve": "secp521r1"}),
    "no common curves": Scenario(
        tls("curve_preferences: [CurveP521]"), NO_TLS, {"curve": "secp384r1"}
    ),
    # The toolkit refuses to start without a suite that HTTP/2 needs. HTTP/1.1 needs none.
    "non-http2 ciphers but http2 enabled": Scenario(tls(*suites("AES_128_CBC_SHA")), 200),
    "allowed SANs without a client certificate": Scenario(
        tls(
            "client_auth_type: VerifyClientCertIfGiven",
            "client_ca_file: authority.pem",
            "client_allowed_sans: [one]",
        ),
        NO_TLS,
    ),
    "without basic auth and TLS": Scenario(TLS + USERS, 401),
}


def ask(
    port: int,
    folder: pathlib.Path,
    maximum: ssl.TLSVersion | None = None,
    ciphers: str | None = None,
    curve: str | None = None,
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
    try:
        with (
            connect(port) as plain,
            context.wrap_socket(plain, server_hostname="localhost") as client,
        ):
            if not expects_alert:
                client.sendall(REQUEST)
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


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_toolkit_scenario_has_the_expected_outcome(start, folder, name):
    scenario = SCENARIOS[name]
    file = write(folder, scenario.configuration)
    exporter = start.exporter("--feed.demo", "--web.config.file", file)
    if scenario.client is None:
        outcome, cipher = parse_responses(exchange(exporter.port, REQUEST))[0].status, None
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
