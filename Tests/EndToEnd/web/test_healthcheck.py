"""What reads the web configuration besides the server: `healthcheck` and `--config.check`."""

import pathlib
import shutil
import socket
import subprocess
import tempfile

import pytest

from support.curl import curl
from support.web_configuration import expect_healthcheck, tls, users

# MARK: healthcheck


def test_the_healthcheck_follows_the_configuration(start, programs, authority, server, web):
    for content in ("", users(alice="secret"), tls(server), tls(server) | users(alice="secret")):
        file = web(content)
        exporter = start.exporter("--feed.demo", "--web.config.file", file)
        expect_healthcheck(programs, exporter.address, file)
        expect_healthcheck(programs, f":{exporter.port}", file)
        exporter.stop()


def test_the_healthcheck_asks_a_unix_socket(start, programs, authority, server, web):
    with tempfile.TemporaryDirectory(prefix="aqe") as folder:
        path = str(pathlib.Path(folder) / "s")
        file = web(tls(server) | users(alice="secret"))
        start.exporter("--feed.demo", "--web.config.file", file, listen=f"unix:{path}")
        expect_healthcheck(programs, f"unix:{path}", file)
        assert (
            curl(
                "https://localhost/-/ready", "--unix-socket", path, "--cacert", str(authority.file)
            ).status
            == 200
        )


def test_the_healthcheck_reads_the_environment(start, programs, server, web):
    file = web(tls(server))
    exporter = start.exporter("--feed.demo", "--web.config.file", file)
    expect_healthcheck(programs, exporter.address, file)
    environment = {
        "AIR_QUALITY_EXPORTER_WEB_LISTEN_ADDRESS": f"{exporter.address}\n127.0.0.1:1",
        "AIR_QUALITY_EXPORTER_WEB_CONFIG_FILE": file,
    }
    ended = programs.run("air-quality-exporter", "healthcheck", environment=environment)
    assert (ended.process.returncode, len(ended.output)) == (0, 1), ended.errors


def test_the_healthcheck_fails_in_one_line(start, programs, server, web, tmp_path):
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
                "air-quality-exporter",
                "healthcheck",
                "--web.listen-address", address,
                "--web.config.file", web(content),
            )
            assert (ended.process.returncode, ended.output, len(ended.errors)) == (1, [], 1), (
                ended.errors
            )
            assert part in ended.errors[0]


# MARK: config.check


def test_the_check_of_the_configuration_accepts_what_is_good(programs, authority, server, web):
    for content in (
        "",
        "# nothing\n",
        tls(
            server,
            client_ca_file=str(authority.file),
            client_auth_type="RequireAndVerifyClientCert",
        ),
        users(alice="secret", bob="other"),
        {"rate_limit": {"interval": "1s", "burst": 1}},
        {"http_server_config": {"http2": False, "headers": {"X-Frame-Options": "deny"}}},
    ):
        ended = programs.run(
            "air-quality-exporter",
            "--feed.demo",
            "--config.check",
            "--web.config.file", web(content),
        )
        assert (ended.process.returncode, ended.output, ended.errors) == (
            0,
            ["configuration is valid"],
            [],
        )


# WebConfigurationTests has more of them.
@pytest.mark.parametrize(
    "content, part",
    [
        ("tls_server_config: {bogus: 1}", "bogus"),
        ("[", "web.yml"),
        ("tls_server_config: {cert_file: SERVER}", "key"),
        ("tls_server_config: {cert_file: /no/such/file, key_file: KEY}", "/no/such/file"),
        ("tls_server_config: {cert_file: SERVER, key_file: OTHER_KEY}", "key"),
        (
            "tls_server_config: {cert_file: SERVER, key_file: KEY, client_auth_type: Please}",
            "Please",
        ),
        ("http_server_config: {headers: {X-Frame-Options: maybe}}", "X-Frame-Options"),
        (None, "no.yml"),
    ],
)
def test_the_check_of_the_configuration_and_promtool_reject_what_is_bad(
    programs, authority, server, web, content, part
):
    if content is None:
        file = "/no/such/no.yml"
    else:
        names = {
            "OTHER_KEY": authority.issue("other").key,
            "SERVER": server.file,
            "KEY": server.key,
            "CA": authority.file,
        }
        for name, path in names.items():
            content = content.replace(name, str(path))
        file = web(content)
    for flags in (["--config.check"], ["--web.listen-address", "127.0.0.1:0"]):
        ended = programs.run(
            "air-quality-exporter", "--feed.demo", "--web.config.file", file, *flags
        )
        assert ended.process.returncode != 0 and ended.output == []
        assert len(ended.errors) == 1 and part in ended.errors[0], ended.errors
    if shutil.which("promtool"):
        judged = subprocess.run(["promtool", "check", "web-config", file], capture_output=True)
        assert judged.returncode != 0
