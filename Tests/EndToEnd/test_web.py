"""The web configuration on the running exporter, driven with curl: TLS, passwords, rate limit, reload, health check."""

import signal
import subprocess
import warnings

import pytest

from waiting import wait_for

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import crypt


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificates")
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem"), "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return folder


def curl(*arguments: str) -> tuple[int, str]:
    """The status and the body."""
    command = ["curl", "--silent", "--show-error", "--max-time", "10", "--write-out", "\n%{http_code}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    body, _, status = done.stdout.rpartition("\n")
    return int(status or 0), body


def tls(certificate) -> str:
    return f"tls_server_config:\n  cert_file: {certificate}/certificate.pem\n  key_file: {certificate}/key.pem\n"


def users(password: str) -> str:
    salt = crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=16)
    return f"basic_auth_users:\n  alice: {crypt.crypt(password, salt)}\n"


def test_tls_passwords_and_reload(start, programs, certificate, tmp_path):
    file = tmp_path / "web.yml"
    file.write_text(tls(certificate) + users("first"))
    exporter = start.exporter("--feed.demo", "--web.config.file", str(file))
    trust = ("--cacert", str(certificate / "certificate.pem"))
    page = f"https://{exporter.address}/metrics"
    assert curl(*trust, page)[0] == 401
    assert curl(*trust, "--user", "alice:wrong", page)[0] == 401
    assert curl(*trust, "--user", "bob:first", page)[0] == 401
    status, body = curl(*trust, "--user", "alice:first", page)
    assert status == 200 and "airquality_exporter_build_info" in body
    # The health paths never ask for a password.
    assert curl(*trust, f"https://{exporter.address}/-/healthy")[0] == 200
    assert curl(f"http://{exporter.address}/metrics")[0] != 200

    # Changed: in force without being told, and without a restart.
    file.write_text(tls(certificate) + users("second"))
    wait_for(lambda: curl(*trust, "--user", "alice:second", page)[0] == 200, "the new password")
    assert curl(*trust, "--user", "alice:first", page)[0] == 401
    # Bad: the last good one stays, and the log says so once.
    file.write_text("bogus: 1\n")
    exporter.signal(signal.SIGHUP)
    wait_for(lambda: any("the last good one stays" in line for line in exporter.errors), "the line in the log")
    assert curl(*trust, "--user", "alice:second", page)[0] == 200

    file.write_text(tls(certificate) + users("second"))
    probe = programs.run(
        "air-quality-exporter", "healthcheck", "--web.listen-address", exporter.address, "--web.config.file", str(file)
    )
    assert probe.process.returncode == 0, probe.errors


def test_a_client_certificate_is_demanded(start, programs, certificate, tmp_path):
    file = tmp_path / "web.yml"
    file.write_text(
        tls(certificate)
        + f"  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: {certificate}/certificate.pem\n"
    )
    exporter = start.exporter("--feed.demo", "--web.config.file", str(file))
    trust = ("--cacert", str(certificate / "certificate.pem"))
    mine = ("--cert", str(certificate / "certificate.pem"), "--key", str(certificate / "key.pem"))
    assert curl(*trust, f"https://{exporter.address}/metrics")[0] == 0
    assert curl(*trust, *mine, f"https://{exporter.address}/metrics")[0] == 200
    probe = programs.run(
        "air-quality-exporter", "healthcheck", "--web.listen-address", exporter.address, "--web.config.file", str(file)
    )
    assert probe.process.returncode == 0, probe.errors


def test_headers_and_rate_limit(start, tmp_path):
    file = tmp_path / "web.yml"
    file.write_text(
        "http_server_config:\n  headers:\n    X-Content-Type-Options: nosniff\n"
        "rate_limit:\n  interval: 1h\n  burst: 2\n"
    )
    exporter = start.exporter("--feed.demo", "--web.config.file", str(file))
    answers = [exporter.get("/-/healthy") for _ in range(3)]
    assert [answer.status for answer in answers] == [200, 200, 429]
    assert answers[0].headers["X-Content-Type-Options"] == "nosniff"


def test_healthcheck_of_a_dead_exporter_fails_in_one_line(programs):
    ended = programs.run("air-quality-exporter", "healthcheck", "--web.listen-address", "127.0.0.1:1")
    assert ended.process.returncode == 1
    assert len(ended.errors) == 1 and "unhealthy" in ended.errors[0]


@pytest.mark.parametrize("text, status", [("", 0), ("rate_limit:\n  interval: 1s\n", 0), ("bogus: 1\n", 1)])
def test_config_check(programs, tmp_path, text, status):
    file = tmp_path / "web.yml"
    file.write_text(text)
    ended = programs.run(
        "air-quality-exporter", "--feed.demo", "--config.check", "--web.config.file", str(file)
    )
    assert ended.process.returncode == status
    assert len(ended.errors) == status and ended.output == ([] if status else ["configuration is valid"])
    assert not status or "bogus" in ended.errors[0]


def test_unix_socket(start, programs, tmp_path):
    socket = tmp_path / "exporter.sock"
    exporter = start.exporter("--feed.demo", listen=f"unix:{socket}")
    wait_for(lambda: curl("--unix-socket", str(socket), "http://localhost/-/healthy")[0] == 200, "the socket")
    probe = lambda: programs.run("air-quality-exporter", "healthcheck", "--web.listen-address", f"unix:{socket}")
    wait_for(lambda: probe().process.returncode == 0, "readiness")
    assert exporter.stop() is None
    assert not socket.exists()
