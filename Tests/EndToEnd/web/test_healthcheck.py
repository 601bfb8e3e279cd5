"""`healthcheck` reads the same web configuration as the server."""

import pathlib
import socket
import tempfile

from support.curl import curl
from support.web_configuration import expect_healthcheck, tls, users


def test_the_healthcheck_supports_tls_and_passwords(start, programs, authority, server, web):
    for content in ("", users(alice="secret"), tls(server), tls(server) | users(alice="secret")):
        file = web(content)
        exporter = start.exporter("--feed.demo", "--web.config.file", file)
        expect_healthcheck(programs, exporter.address, file)
        expect_healthcheck(programs, f":{exporter.port}", file)
        exporter.stop()


def test_the_healthcheck_works_over_a_unix_socket(start, programs, authority, server, web):
    with tempfile.TemporaryDirectory(prefix="aqe") as folder:
        path = str(pathlib.Path(folder) / "s")
        file = web(tls(server) | users(alice="secret"))
        start.exporter("--feed.demo", "--web.config.file", file, listen=f"unix:{path}")
        expect_healthcheck(programs, f"unix:{path}", file)
        options = ("--unix-socket", path, "--cacert", str(authority.file))
        assert curl("https://localhost/-/ready", *options).status == 200


def test_the_healthcheck_reads_its_flags_from_the_environment(start, programs, server, web):
    file = web(tls(server))
    exporter = start.exporter("--feed.demo", "--web.config.file", file)
    expect_healthcheck(programs, exporter.address, file)
    environment = {
        "AIR_QUALITY_EXPORTER_WEB_LISTEN_ADDRESS": f"{exporter.address}\n127.0.0.1:1",
        "AIR_QUALITY_EXPORTER_WEB_CONFIG_FILE": file,
    }
    ended = programs.run("air-quality-exporter", "healthcheck", environment=environment)
    assert (ended.process.returncode, len(ended.output)) == (0, 1), ended.errors


def test_the_healthcheck_is_independent_of_feeds_unless_it_asks_for_readiness(start, programs):
    """A supervisor must not restart an exporter because its feed is down."""
    exporter = start.exporter("--feed.url", "ws://127.0.0.1:1/")
    check = ("healthcheck", f"--web.listen-address={exporter.address}")
    healthy = programs.run("air-quality-exporter", *check)
    assert (healthy.process.returncode, healthy.output) == (0, ["healthy"]), healthy.errors
    assert "status 503" in programs.rejection("air-quality-exporter", *check, "--ready")
    environment = {"AIR_QUALITY_EXPORTER_READY": "true"}
    ended = programs.run("air-quality-exporter", *check, environment=environment)
    assert ended.process.returncode == 1


def test_a_failed_healthcheck_names_the_problem_in_one_line(start, programs, server, web, tmp_path):
    silent = socket.create_server(("127.0.0.1", 0))
    unconnected = start.exporter("--feed.url", f"ws://127.0.0.1:{silent.getsockname()[1]}/")
    cases = [
        (unconnected.address, "", "503"),  # alive but not ready
        ("127.0.0.1:1", "", "127.0.0.1:1"),  # nothing listens
        (f"unix:{tmp_path}/none", "", "none"),
        (f"127.0.0.1:{silent.getsockname()[1]}", "", "127.0.0.1"),  # never responds
        (unconnected.address, tls(server), unconnected.address),  # TLS expected but not spoken
        (unconnected.address, "bogus: 1", "bogus"),
    ]
    with silent:
        for address, content, part in cases:
            flags = ("--ready", f"--web.listen-address={address}")
            flags += (f"--web.config.file={web(content)}",)
            assert part in programs.rejection("air-quality-exporter", "healthcheck", *flags)
