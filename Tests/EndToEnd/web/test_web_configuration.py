"""The web configuration file on the running exporter, driven with curl: passwords, headers, rate
limit, reload."""

import contextlib
import http.client
import shutil
import signal
import ssl
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.certificates import Certificate
from support.curl import curl
from support.responses import expect_json_error, expect_one_line
from support.waiting import wait_for
from support.web_configuration import Client, handshake, tls, users

# MARK: Passwords


def test_passwords_are_compared_exactly_and_only_health_paths_need_none(start, web):
    odd = "pass wörd: $x"
    file = web(
        users(alice="secret", bob=odd)
        | {"http_server_config": {"headers": {"X-Frame-Options": "deny"}}}
    )
    exporter = start.exporter("--feed.demo", "--web.config.file", file, "--web.enable-lifecycle")
    client = Client(exporter)
    for credentials in (
        (),
        ("--user", "alice:"),
        ("--user", "alice:Secret"),
        ("--user", "alice:secret "),
        ("--user", f"alice:{odd}"),
        ("--user", "bob:secret"),
        ("--user", "eve:secret"),
        ("--user", ":secret"),
        ("--user", ":"),
        ("--header", "Authorization: Basic"),
        ("--header", "Authorization: Basic !!!"),
        ("--header", "Authorization: Bearer secret"),
        ("--user", "alice:" + "x" * 2000),
    ):
        response = client("/metrics", *credentials)
        assert (response.status, response.headers["Www-Authenticate"]) == (401, "Basic"), (
            credentials
        )
        assert response.headers["X-Frame-Options"] == "deny"
        expect_one_line(response)
    for credentials in ("alice:secret", f"bob:{odd}"):
        for path in ("/metrics", "/history.json", "/", "/nothing"):
            response = client(path, "--user", credentials)
            assert response.status == (404 if path == "/nothing" else 200)
            assert response.headers["X-Frame-Options"] == "deny"
    assert client("/metrics", "--user", "alice:secret", "--head").status == 200
    # Every path needs a password except those of health, which respond alike to everyone.
    for path in ("/", "/history.json", "/nothing", "/-/healthyx", "/-/healthy/"):
        assert client(path).status == 401
    assert client("/-/reload", "--request", "POST").status == 401
    assert client("/-/reload", "--request", "POST", "--user", "alice:secret").status == 200
    expect_json_error(client("/history.json"))
    for path in ("/-/healthy", "/-/ready"):
        wait_for(lambda: client(path).status == 200, path)
        assert client(path, "--user", "eve:wrong").status == 200


def test_scrapers_with_the_right_password_are_served_despite_wrong_guesses(start, web):
    client = Client(start.exporter("--feed.demo", "--web.config.file", web(users(alice="secret"))))

    def status(password: str) -> int:
        return client.status("/metrics", "--user", f"alice:{password}")

    # A password once found right is remembered: guesses from the same address cannot block it.
    assert status("secret") == 200
    passwords = ["secret" if number % 3 else f"wrong {number}" for number in range(60)]
    with ThreadPoolExecutor(12) as pool:
        statuses = list(zip(passwords, pool.map(status, passwords), strict=True))
    assert {found for password, found in statuses if password == "secret"} == {200}
    # Guesses from one address are checked one at a time; the others wait for a while.
    guesses = {found for password, found in statuses if password != "secret"}
    assert 401 in guesses and guesses <= {401, 429}


# MARK: Headers and rate limit


def test_configured_headers_are_on_every_response(start, web):
    headers = {
        "Content-Security-Policy": "default-src 'self'; img-src *",
        "X-Frame-Options": "sameorigin",
        "X-Content-Type-Options": "nosniff",
        "X-XSS-Protection": "1; mode=block",
        "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
    }
    file = web({"http_server_config": {"headers": headers}})
    client = Client(start.exporter("--feed.demo", "--web.config.file", file))
    paths = "/metrics / /history.json /history.json?x= /-/healthy /nothing /%00".split()
    requests = [[path] for path in (*paths, "/" + "a" * 5000)]
    requests += [["/metrics", "--head"], ["/metrics", "--request", "POST"]]
    for path, *options in requests:
        response = client(path, *options)
        assert {name: response.headers.get(name.title()) for name in headers} == headers, path


def test_requests_beyond_the_rate_limit_are_rejected(start, web):
    file = web({"rate_limit": {"interval": "1h", "burst": 3}})
    client = Client(start.exporter("--feed.demo", "--web.config.file", file))
    assert [client.status() for _ in range(5)] == [200, 200, 200, 429, 429]
    expect_one_line(client())
    # Every path counts, as in the toolkit, but those by which a supervisor decides about restarts.
    assert client.status("/nothing") == 429
    assert client.status("/-/healthy") == 200


def test_the_token_bucket_of_the_rate_limit_refills(start, web):
    file = web({"rate_limit": {"interval": "1s", "burst": 1}})
    client = Client(start.exporter("--feed.demo", "--web.config.file", file))
    for _ in range(3):
        wait_for(lambda: client.status() == 200, "a token")
        wait_for(lambda: client.status() == 429, "an empty bucket")


# MARK: Reload


@pytest.mark.parametrize("rest", ["", "basic_auth_users: {}\n"])
def test_a_reload_cannot_remove_the_last_password(start, web, rest):
    exporter = start.exporter("--feed.demo", "--web.config.file", web(rest))
    client = Client(exporter)
    assert client.status() == 200
    web(users(alice="secret"))
    wait_for(lambda: client.status() == 401, "the password")
    web(rest)
    complaint = "restart to serve without passwords"
    exporter.wait_for_line(complaint, 1)
    exporter.signal(signal.SIGHUP)
    exporter.wait_for_line(complaint, 2)
    assert client.status() == 401
    assert client.status("/metrics", "--user", "alice:secret") == 200
    web(users(alice="other"))
    wait_for(lambda: client.status("/metrics", "--user", "alice:other") == 200, "the good file")


@pytest.mark.parametrize("way", ["signal", "request"])
def test_a_bad_file_leaves_the_last_good_one_in_force(start, web, tmp_path, way):
    good, bad = users(alice="secret"), "basic_auth_users: {alice: not a hash}"
    flags = ("--web.config.file", web(good), "--web.enable-lifecycle")
    exporter = start.exporter("--feed.demo", *flags)
    client = Client(exporter)
    alice = ("--user", "alice:secret")

    def reload() -> None:
        if way == "signal":
            exporter.signal(signal.SIGHUP)
            return
        response = client("/-/reload", "--request", "POST", *alice)
        assert response.status == 500
        expect_one_line(response)
        assert str(tmp_path / "web.yml") in response.text and "alice" in response.text

    def complaints() -> int:
        return exporter.count_lines("keeping the previous one")

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
    # The remembered old password is no longer accepted.
    assert client.status("/metrics", *alice) == 401
    # Detecting the change and the explicit reload may each have logged one line per state of the
    # file, never more.
    assert complaints() <= 4


def shown(exporter, authority) -> bytes:
    """The certificate that the exporter presents."""
    with handshake(exporter, authority) as connection:
        return connection.getpeercert(binary_form=True)


def test_a_new_certificate_is_used_without_dropping_connections(start, authority, web, tmp_path):
    first, second = authority.issue("first"), authority.issue("second")
    current = Certificate(tmp_path / "tls.pem", tmp_path / "tls.key")
    shutil.copy(first.file, current.file)
    shutil.copy(first.key, current.key)
    exporter = start.exporter("--feed.demo", "--web.config.file", web(tls(current)))

    assert shown(exporter, authority) == first.der
    context = ssl.create_default_context(cafile=authority.file)
    kept = http.client.HTTPSConnection("localhost", exporter.port, timeout=30, context=context)
    with contextlib.closing(kept):
        kept.connect()
        before = kept.sock
        # A certificate without its key does not take effect.
        shutil.copy(second.file, current.file)
        exporter.signal(signal.SIGHUP)
        exporter.wait_for_line("keeping the previous one")
        assert shown(exporter, authority) == first.der
        shutil.copy(second.key, current.key)
        wait_for(lambda: shown(exporter, authority) == second.der, "the new certificate")
        kept.request("GET", "/-/healthy")
        assert kept.getresponse().read() and kept.sock is before


def test_a_certificate_may_appear_after_the_configuration_that_names_it(
    start, authority, web, tmp_path
):
    first, second = authority.issue("first"), authority.issue("second")
    later = Certificate(tmp_path / "later.pem", tmp_path / "later.key")
    exporter = start.exporter("--feed.demo", "--web.config.file", web(tls(first)))

    web(tls(later))
    exporter.wait_for_line("keeping the previous one")
    shutil.copy(second.key, later.key)
    shutil.copy(second.file, later.file)
    wait_for(lambda: shown(exporter, authority) == second.der, "the new certificate")
    # One line per problem, not per check.
    assert exporter.count_lines("keeping the previous one") <= 3


def test_tls_cannot_be_turned_off_while_running(start, authority, server, web):
    flags = ("--web.config.file", web(tls(server)), "--web.enable-lifecycle")
    exporter = start.exporter("--feed.demo", *flags)
    client = Client(exporter, authority)
    web(users(alice="secret"))
    response = client("/-/reload", "--request", "POST")
    # The toolkit needs a restart for this as well. Nothing is served in plain text that was not
    # before.
    assert response.status == 500 and "restart" in response.text
    assert client.status() == 200
    assert curl(f"http://{exporter.address}/metrics").status == 400


def test_the_check_of_the_configuration_prints_the_warnings_of_a_start(programs, tmp_path):
    file = tmp_path / "web.yml"
    file.write_text("rate_limit: {interval: 1s}\n")
    check = ("--feed.demo", "--config.check", "--web.config.file", str(file))
    checked = programs.run("air-quality-exporter", *check)
    assert checked.output == ["configuration is valid"]
    assert "rate_limit.burst is 0, so every request is rejected" in checked.errors[0]
