"""The web configuration file on the running exporter, driven with curl: TLS, client certificates, passwords, headers,
rate limit, reload; and the subcommands that read the same file."""

import contextlib
import gzip
import http.client
import json
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pytest
from certificates import Certificate, CertificateAuthority
from curl import BAD_PEER_CERTIFICATE, TLS_FAILURES, CurlError, curl
from exposition import parse_samples
from peers import WebSocketFeed
from waiting import wait_for

# bcrypt with the lowest cost.
HASHES = {
    "secret": "$2y$04$Cg00Cv.DEAqayriMAZMKa.bvAjKtL.2M8adi3oLiRY6AaQDeQKWZ6",
    "other": "$2y$04$VRz7foGEEo533VZOaIhU4eZ6Wd.F2HkbNu.BnpMVg04PVrHtUziKe",
    "pass wörd: $x": "$2y$04$cv6LvX4.JklIbEMyT4ZX8uXKWTL.XUO48ML1H4ZrlnVWR1dDY.sKa",
}


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> CertificateAuthority:
    return CertificateAuthority(tmp_path_factory.mktemp("authority") / "own")


@pytest.fixture(scope="module")
def server(authority) -> Certificate:
    return authority.issue("server")


@pytest.fixture(scope="module")
def clients(authority, tmp_path_factory) -> dict[str, tuple[str, ...]]:
    """curl's options for clients: without a certificate, with one of our authority, with one of another's."""
    stranger = CertificateAuthority(tmp_path_factory.mktemp("stranger") / "other")
    issued = {
        "trusted": authority.issue("client", "DNS:prometheus.example,URI:spiffe://example/prometheus,IP:10.1.2.3"),
        "foreign": stranger.issue("client", "DNS:prometheus.example"),
        "expired": authority.issue("expired", "DNS:prometheus.example", is_expired=True),
    }
    options = {name: ("--cert", str(found.file), "--key", str(found.key)) for name, found in issued.items()}
    return {"none": ()} | options


@pytest.fixture
def web(tmp_path):
    """Writes the file; JSON is YAML. It appears whole, as editors and Kubernetes replace files."""

    def write(content: dict | str) -> str:
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        (tmp_path / "new").write_text(text)
        (tmp_path / "new").replace(tmp_path / "web.yml")
        return str(tmp_path / "web.yml")

    return write


def tls(server: Certificate, **more) -> dict:
    return {"tls_server_config": {"cert_file": str(server.file), "key_file": str(server.key)} | more}


def users(**passwords: str) -> dict:
    return {"basic_auth_users": {user: HASHES[password] for user, password in passwords.items()}}


class Client:
    """curl for one exporter."""

    def __init__(self, exporter, authority: CertificateAuthority | None = None):
        scheme, self.trust = ("https", ("--cacert", str(authority.file))) if authority else ("http", ())
        self.base = f"{scheme}://{exporter.address}"

    def __call__(self, path: str = "/metrics", *options: str):
        return curl(self.base + path, *self.trust, *options)

    def status(self, path: str = "/metrics", *options: str) -> int | str:
        """The status, or "refused" when TLS failed."""
        try:
            return self(path, *options).status
        except CurlError as error:
            assert error.status in TLS_FAILURES, error
            return "refused"


def expect_one_line(answer) -> None:
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert answer.text.endswith("\n") and answer.text.count("\n") == 1 and len(answer.text) > 1


# MARK: TLS


def test_tls_is_spoken_and_nothing_else(start, authority, server, web):
    exporter = start.exporter("--feed.demo", "--web.config.file", web(tls(server)))
    client = Client(exporter, authority)
    for path, status in [("/metrics", 200), ("/", 200), ("/history.json", 200), ("/-/healthy", 200), ("/nothing", 404)]:
        assert client(path).status == status
    with pytest.raises(CurlError) as failure:
        curl(f"https://{exporter.address}/metrics")
    assert failure.value.status == BAD_PEER_CERTIFICATE
    with pytest.raises(CurlError):
        curl(f"http://{exporter.address}/metrics")


def test_a_page_of_many_tls_records_is_whole(start, authority, server, web):
    feed = WebSocketFeed()
    try:
        exporter = start.exporter("--feed.url", feed.url, "--web.config.file", web(tls(server)))
        client = Client(exporter, authority)
        feed.wait_for_client()
        feed.send([{"city": f"City {number}", "aqi": number % 500} for number in range(5000)])
        wait_for(lambda: b"airquality_exporter_cities 5000\n" in client().body, "all cities")
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
            {"max_version": "TLS12", "cipher_suites": ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"]},
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
def test_versions_and_cipher_suites(start, authority, server, web, settings, version, cipher):
    exporter = start.exporter("--feed.demo", "--web.config.file", web(tls(server, **settings)))
    with handshake(exporter, authority) as connection:
        assert connection.version() == version
        assert cipher in (None, connection.cipher()[0])
    if settings.get("min_version") == "TLS13":
        with pytest.raises(ssl.SSLError):
            handshake(exporter, authority, maximum=ssl.TLSVersion.TLSv1_2).close()


def handshake(exporter, authority, maximum=ssl.TLSVersion.MAXIMUM_SUPPORTED) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=authority.file)
    context.maximum_version = maximum
    plain = socket.create_connection(("127.0.0.1", exporter.port), 30)
    try:
        return context.wrap_socket(plain, server_hostname="localhost")
    except Exception:
        plain.close()
        raise


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
def test_client_certificates(start, programs, authority, server, clients, web, policy, expected, version):
    settings = {"client_auth_type": policy}
    if "Verify" in policy:
        settings["client_ca_file"] = str(authority.file)
    file = web(tls(server, **settings))
    exporter = start.exporter("--feed.demo", "--web.config.file", file)
    client = Client(exporter, authority)
    tls_version = ("--tlsv" + version, "--tls-max", version)
    assert {name: client.status("/metrics", *tls_version, *clients[name]) for name in expected} == expected
    # The health check has no certificate, and needs none.
    expect_healthcheck(programs, exporter.address, file)


@pytest.mark.parametrize(
    "allowed, expected",
    [
        (["prometheus.example"], OK),
        (["spiffe://example/prometheus"], OK),
        (["10.1.2.3"], OK),
        (["somebody.else", "prometheus.example"], OK),
        (["somebody.else"], NO),
        (["example"], NO),
        (["Prometheus.example"], NO),
        (["*.example"], NO),
        (["client"], NO),  # the common name is not asked
    ],
)
def test_names_of_clients(start, authority, server, clients, web, allowed, expected):
    policy = {"client_auth_type": "RequireAndVerifyClientCert", "client_ca_file": str(authority.file)}
    file = web(tls(server, **policy, client_allowed_sans=allowed))
    client = Client(start.exporter("--feed.demo", "--web.config.file", file), authority)
    assert client.status("/metrics", *clients["trusted"]) == expected
    assert client.status("/metrics", *clients["foreign"]) == NO


# MARK: Passwords


def test_passwords(start, web):
    odd = "pass wörd: $x"
    file = web(users(alice="secret", bob=odd) | {"http_server_config": {"headers": {"X-Frame-Options": "deny"}}})
    exporter = start.exporter("--feed.demo", "--web.config.file", file, "--web.enable-lifecycle")
    client = Client(exporter)
    for credentials in (
        (), ("--user", "alice:"), ("--user", "alice:Secret"), ("--user", "alice:secret "), ("--user", f"alice:{odd}"),
        ("--user", "bob:secret"), ("--user", "eve:secret"), ("--user", ":secret"), ("--user", ":"),
        ("--header", "Authorization: Basic"), ("--header", "Authorization: Basic !!!"),
        ("--header", "Authorization: Bearer secret"), ("--user", "alice:" + "x" * 2000),
    ):  # fmt: skip
        answer = client("/metrics", *credentials)
        assert (answer.status, answer.headers["Www-Authenticate"]) == (401, "Basic"), credentials
        assert answer.headers["X-Frame-Options"] == "deny"
        expect_one_line(answer)
    for credentials in ("alice:secret", f"bob:{odd}"):
        for path, status in [("/metrics", 200), ("/history.json", 200), ("/", 200), ("/nothing", 404)]:
            answer = client(path, "--user", credentials)
            assert answer.status == status
            assert answer.headers["X-Frame-Options"] == "deny"
    assert client("/metrics", "--user", "alice:secret", "--head").status == 200
    # Every path but those of health; those say the same to everybody.
    for path in ("/", "/history.json", "/nothing", "/-/healthyx", "/-/healthy/"):
        assert client(path).status == 401
    assert client("/-/reload", "--request", "POST").status == 401
    assert client("/-/reload", "--request", "POST", "--user", "alice:secret").status == 200
    refused = client("/history.json")
    assert refused.headers["Content-Type"] == "application/json" and list(json.loads(refused.body)) == ["error"]
    for path in ("/-/healthy", "/-/ready"):
        wait_for(lambda: client(path).status == 200, path)
        assert client(path, "--user", "eve:wrong").status == 200


def test_many_scrapers_with_right_and_wrong_passwords_at_once(start, web):
    client = Client(start.exporter("--feed.demo", "--web.config.file", web(users(alice="secret"))))
    passwords = ["secret" if number % 3 else f"wrong {number}" for number in range(60)]
    with ThreadPoolExecutor(12) as pool:
        statuses = list(pool.map(lambda password: client.status("/metrics", "--user", f"alice:{password}"), passwords))
    assert statuses == [200 if password == "secret" else 401 for password in passwords]


# MARK: Headers and rate limit


def test_headers_are_on_every_answer(start, web):
    headers = {
        "Content-Security-Policy": "default-src 'self'; img-src *",
        "X-Frame-Options": "sameorigin",
        "X-Content-Type-Options": "nosniff",
        "X-XSS-Protection": "1; mode=block",
        "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
    }
    client = Client(start.exporter("--feed.demo", "--web.config.file", web({"http_server_config": {"headers": headers}})))
    for path, *options in [
        ("/metrics",), ("/",), ("/history.json",), ("/history.json?x=",), ("/-/healthy",), ("/nothing",), ("/%00",),
        ("/metrics", "--head"), ("/metrics", "--request", "POST"), ("/" + "a" * 5000,),
    ]:  # fmt: skip
        answer = client(path, *options)
        assert {name: answer.headers.get(name.title()) for name in headers} == headers, path


def test_rate_limit(start, web):
    file = web({"rate_limit": {"interval": "1h", "burst": 3}})
    client = Client(start.exporter("--feed.demo", "--web.config.file", file))
    assert [client.status() for _ in range(5)] == [200, 200, 200, 429, 429]
    expect_one_line(client())
    # Every path is counted, as the toolkit does.
    assert client.status("/-/healthy") == client.status("/nothing") == 429


def test_the_rate_limit_fills_again(start, web):
    file = web({"rate_limit": {"interval": "1s", "burst": 1}})
    client = Client(start.exporter("--feed.demo", "--web.config.file", file))
    for _ in range(3):
        wait_for(lambda: client.status() == 200, "a token")
        wait_for(lambda: client.status() == 429, "an empty bucket")


# MARK: Reload


def test_a_changed_file_is_in_force_without_being_told(start, web):
    exporter = start.exporter("--feed.demo", "--web.config.file", web(users(alice="secret")))
    client = Client(exporter)
    assert client.status("/metrics", "--user", "alice:secret") == 200
    web(users(alice="other"))
    wait_for(lambda: client.status("/metrics", "--user", "alice:other") == 200, "the new password")
    # What was found to be right before is not right any more.
    assert client.status("/metrics", "--user", "alice:secret") == 401
    web("")
    wait_for(lambda: client.status() == 200, "the end of passwords")
    web(users(alice="secret"))
    wait_for(lambda: client.status() == 401, "passwords again")


@pytest.mark.parametrize("way", ["signal", "request"])
def test_a_bad_file_leaves_the_last_good_one_in_force(start, web, tmp_path, way):
    good, bad = users(alice="secret"), "basic_auth_users: {alice: not a hash}"
    exporter = start.exporter("--feed.demo", "--web.config.file", web(good), "--web.enable-lifecycle")
    client = Client(exporter)
    alice = ("--user", "alice:secret")

    def reload() -> None:
        if way == "signal":
            exporter.signal(signal.SIGHUP)
            return
        answer = client("/-/reload", "--request", "POST", *alice)
        assert answer.status == 500
        expect_one_line(answer)
        assert str(tmp_path / "web.yml") in answer.text and "alice" in answer.text

    def complaints() -> int:
        return sum("the last good one stays in force" in line for line in exporter.errors)

    web(bad)
    reload()
    wait_for(complaints, "the complaint")
    assert client.status("/metrics", *alice) == 200 and client.status() == 401
    (tmp_path / "web.yml").unlink()
    if way == "request":
        assert client("/-/reload", "--request", "POST", *alice).status == 500
    assert client.status("/metrics", *alice) == 200 and client.status() == 401
    web(users(alice="other"))
    wait_for(lambda: client.status("/metrics", "--user", "alice:other") == 200, "the good file")
    # Noticing the change and being told of it may each have led to one line for each state of the file, never more.
    assert complaints() <= 4


def test_reload_without_a_file_does_no_harm(start):
    exporter = start.exporter("--feed.demo", "--web.enable-lifecycle")
    client = Client(exporter)
    assert client("/-/reload", "--request", "POST").status == 200
    exporter.signal(signal.SIGHUP)
    assert client("/-/reload", "--request", "POST").status == 200 and exporter.is_running


def test_a_new_certificate_is_shown_without_dropping_connections(start, authority, web, tmp_path):
    first, second = authority.issue("first"), authority.issue("second")
    current = Certificate(tmp_path / "tls.pem", tmp_path / "tls.key")
    shutil.copy(first.file, current.file)
    shutil.copy(first.key, current.key)
    exporter = start.exporter("--feed.demo", "--web.config.file", web(tls(current)))

    def shown() -> bytes:
        with handshake(exporter, authority) as connection:
            return connection.getpeercert(binary_form=True)

    def der(certificate: Certificate) -> bytes:
        return ssl.PEM_cert_to_DER_cert(certificate.file.read_text())

    assert shown() == der(first)
    context = ssl.create_default_context(cafile=authority.file)
    kept = http.client.HTTPSConnection("localhost", exporter.port, timeout=30, context=context)
    with contextlib.closing(kept):
        kept.connect()
        before = kept.sock
        # Half of the pair is not in force.
        shutil.copy(second.file, current.file)
        exporter.signal(signal.SIGHUP)
        wait_for(lambda: any("last good one stays" in line for line in exporter.errors), "the complaint")
        assert shown() == der(first)
        shutil.copy(second.key, current.key)
        wait_for(lambda: shown() == der(second), "the new certificate")
        kept.request("GET", "/-/healthy")
        assert kept.getresponse().read() and kept.sock is before


def test_tls_cannot_be_turned_on_or_off_while_running(start, authority, server, web):
    exporter = start.exporter("--feed.demo", "--web.config.file", web(tls(server)), "--web.enable-lifecycle")
    client = Client(exporter, authority)
    web(users(alice="secret"))
    answer = client("/-/reload", "--request", "POST")
    # The toolkit needs a restart for it as well. Nothing is served in the clear that was not before.
    assert answer.status == 500 and "restart" in answer.text
    assert client.status() == 200
    with pytest.raises(CurlError):
        curl(f"http://{exporter.address}/metrics")


# MARK: healthcheck


def expect_healthcheck(programs, address: str, file: str | None = None) -> None:
    def check():
        flags = ["--web.listen-address", address] + (["--web.config.file", file] if file else [])
        ended = programs.run("air-quality-exporter", "healthcheck", *flags)
        assert len(ended.output + ended.errors) == 1
        return ended.process.returncode == 0

    wait_for(check, "a healthy answer", pause=0.1)


def test_healthcheck_follows_the_configuration(start, programs, authority, server, web):
    for content in ("", users(alice="secret"), tls(server), tls(server) | users(alice="secret")):
        file = web(content)
        exporter = start.exporter("--feed.demo", "--web.config.file", file)
        expect_healthcheck(programs, exporter.address, file)
        expect_healthcheck(programs, f":{exporter.port}", file)
        exporter.stop()


def test_healthcheck_of_a_unix_socket(start, programs, authority, server, web):
    with tempfile.TemporaryDirectory(prefix="aqe") as folder:
        path = str(pathlib.Path(folder) / "s")
        file = web(tls(server) | users(alice="secret"))
        start.exporter("--feed.demo", "--web.config.file", file, listen=f"unix:{path}")
        expect_healthcheck(programs, f"unix:{path}", file)
        assert curl("https://localhost/-/ready", "--unix-socket", path, "--cacert", str(authority.file)).status == 200


def test_healthcheck_reads_the_environment(start, programs, server, web):
    file = web(tls(server))
    exporter = start.exporter("--feed.demo", "--web.config.file", file)
    expect_healthcheck(programs, exporter.address, file)
    environment = {
        "AIR_QUALITY_EXPORTER_WEB_LISTEN_ADDRESS": f"{exporter.address}\n127.0.0.1:1",
        "AIR_QUALITY_EXPORTER_WEB_CONFIG_FILE": file,
    }
    ended = programs.run("air-quality-exporter", "healthcheck", environment=environment)
    assert (ended.process.returncode, len(ended.output)) == (0, 1), ended.errors


def test_healthcheck_fails_in_one_line(start, programs, server, web, tmp_path):
    silent = socket.create_server(("127.0.0.1", 0))
    unconnected = start.exporter("--feed.url", f"ws://127.0.0.1:{silent.getsockname()[1]}/")
    cases = [
        (unconnected.address, "", "503"),  # alive, and not ready
        ("127.0.0.1:1", "", "127.0.0.1:1"),  # nobody there
        (f"unix:{tmp_path}/none", "", "none"),
        (f"127.0.0.1:{silent.getsockname()[1]}", "", "127.0.0.1"),  # somebody who never answers
        (unconnected.address, tls(server), unconnected.address),  # TLS expected, none spoken
        (unconnected.address, "bogus: 1", "bogus"),
    ]
    with silent:
        for address, content, part in cases:
            ended = programs.run(
                "air-quality-exporter", "healthcheck", "--web.listen-address", address, "--web.config.file", web(content)
            )
            assert (ended.process.returncode, ended.output, len(ended.errors)) == (1, [], 1), ended.errors
            assert part in ended.errors[0]


# MARK: config.check


def test_config_check_accepts_what_is_good(programs, authority, server, web):
    for content in (
        "",
        "# nothing\n",
        tls(server, client_ca_file=str(authority.file), client_auth_type="RequireAndVerifyClientCert"),
        users(alice="secret", bob="other"),
        {"rate_limit": {"interval": "1s", "burst": 1}},
        {"http_server_config": {"http2": False, "headers": {"X-Frame-Options": "deny"}}},
    ):
        ended = programs.run("air-quality-exporter", "--feed.demo", "--config.check", "--web.config.file", web(content))
        assert (ended.process.returncode, ended.output, ended.errors) == (0, ["configuration is valid"], [])


@pytest.mark.parametrize(
    "content, part",
    [
        ("bogus: 1", "bogus"),
        ("tls_server_config: {bogus: 1}", "bogus"),
        ("[", "web.yml"),
        ("basic_auth_users: {alice: plain}", "alice"),
        ("tls_server_config: {cert_file: SERVER}", "key"),
        ("tls_server_config: {key_file: KEY}", "cert"),
        ("tls_server_config: {cert_file: /no/such/file, key_file: KEY}", "/no/such/file"),
        ("tls_server_config: {cert_file: SERVER, key_file: OTHER_KEY}", "key"),
        ("tls_server_config: {cert_file: KEY, key_file: KEY}", "cert"),
        ("tls_server_config: {cert_file: SERVER, key_file: KEY, client_ca_file: CA}", "client"),
        ("tls_server_config: {cert_file: SERVER, key_file: KEY, client_auth_type: Please}", "Please"),
        ("tls_server_config: {cert_file: SERVER, key_file: KEY, min_version: TLS14}", "TLS14"),
        ("tls_server_config: {cert_file: SERVER, key_file: KEY, cipher_suites: [TLS_INVENTED]}", "TLS_INVENTED"),
        ("tls_server_config: {cert_file: SERVER, key_file: KEY, curve_preferences: [CurveP0]}", "CurveP0"),
        ("http_server_config: {headers: {X-Other: 1}}", "X-Other"),
        ("http_server_config: {headers: {X-Frame-Options: maybe}}", "X-Frame-Options"),
        (None, "no.yml"),
    ],
)
def test_config_check_and_promtool_refuse_what_is_bad(programs, authority, server, web, content, part):
    if content is None:
        file = "/no/such/no.yml"
    else:
        names = {"OTHER_KEY": authority.issue("other").key, "SERVER": server.file, "KEY": server.key, "CA": authority.file}
        for name, path in names.items():
            content = content.replace(name, str(path))
        file = web(content)
    for flags in (["--config.check"], ["--web.listen-address", "127.0.0.1:0"]):
        ended = programs.run("air-quality-exporter", "--feed.demo", "--web.config.file", file, *flags)
        assert ended.process.returncode != 0 and ended.output == []
        assert len(ended.errors) == 1 and part in ended.errors[0], ended.errors
    if shutil.which("promtool"):
        judged = subprocess.run(["promtool", "check", "web-config", file], capture_output=True)
        assert judged.returncode != 0
