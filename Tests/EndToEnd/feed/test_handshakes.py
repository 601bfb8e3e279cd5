"""Answers of servers that are unusual and good, what is offered to them, and what cannot be given
to the handshake."""

import pytest

from support import metrics
from support.faults import FLAGS
from support.peers import WebSocketFeed
from support.raw_feed import RawFeed
from support.waiting import wait_for

EXPORTER = "air-quality-exporter"
QUICK = [f"{name}={value}" for name, value in FLAGS.items()]


def good(accept: str, more: str = "") -> str:
    return (
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Accept: {accept}\r\n{more}\r\n"
    )


EARLY_HINTS = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"
COMPRESSION = "permessage-deflate; server_no_context_takeover"
ANSWERS = {
    "Content-Length: 0": lambda accept: good(accept, "Content-Length: 0\r\n"),
    "Content-Length: 5": lambda accept: good(accept, "Content-Length: 5\r\n"),
    "Transfer-Encoding: chunked": lambda accept: good(accept, "Transfer-Encoding: chunked\r\n"),
    "blanks and tabs around values": lambda accept: (
        "HTTP/1.1 101 \r\nUpgrade:\t websocket \t\r\nConnection:Upgrade\t\r\n"
        f"Sec-WebSocket-Accept:  {accept}\t\r\nSec-WebSocket-Extensions: \t{COMPRESSION} \r\n"
        "Sec-WebSocket-Protocol: \t\r\n\r\n"
    ),
    "100 before it": lambda accept: "HTTP/1.1 100 Continue\r\n\r\n" + good(accept),
    "103 before it, three times": lambda accept: EARLY_HINTS * 3 + good(accept),
    "a folded line": lambda accept: good(accept, "X-Folded: one\r\n two\r\n\tthree\r\n"),
    "a folded Upgrade": lambda accept: good(accept).replace(
        "Upgrade: websocket", "Upgrade:\r\n websocket"
    ),
    "a field of 60 KiB": lambda accept: good(accept, f"Set-Cookie: {'c' * (60 << 10)}\r\n"),
    "700 fields": lambda accept: good(
        accept, "".join(f"X-{number}: {'c' * 80}\r\n" for number in range(700))
    ),
    "lines that end with LF": lambda accept: good(accept).replace("\r\n", "\n"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_unusual_answer_is_a_connection(start, name):
    def behave(peer):
        peer.read_request()
        peer.send(ANSWERS[name](peer.accept).encode())
        peer.send_reading(7)
        peer.serve()

    with RawFeed(behave) as feed:
        exporter = start.exporter("--feed.url", feed.url, *QUICK)
        exporter.wait_for_sample(metrics.INDEX, 7, city="Pune")
        page = exporter.scrape()
        assert page.value(metrics.CONNECTED) == 1
        assert page.nonzero(metrics.DISCONNECTS, "reason") == {}


def test_an_answer_of_more_than_64_kib_says_so(start):
    def behave(peer):
        peer.read_request()
        peer.send(good(peer.accept, f"Set-Cookie: {'c' * (65 << 10)}\r\n").encode())
        peer.serve()

    with RawFeed(behave) as feed:
        exporter = start.exporter("--feed.url", feed.url, *QUICK)
        wait_for(
            lambda: exporter.scrape().value(metrics.DISCONNECTS, reason="handshake"), "a rejection"
        )
        wait_for(
            lambda: exporter.count_lines("the response header is longer than 65536 bytes"),
            "the line that says why",
        )


# Subprotocols


def test_a_subprotocol_is_agreed_on_with_a_server_of_others(start):
    feed = WebSocketFeed(subprotocols=["aqi.v1"])
    try:
        exporter = start.exporter(
            "--feed.url", feed.url,
            "--feed.subprotocol=aqi.v2",
            "--feed.subprotocol", "aqi.v1",
            *QUICK,
        )
        feed.wait_for_client()
        assert feed.requests[0].headers["Sec-WebSocket-Protocol"] == "aqi.v2, aqi.v1"
        assert feed.clients[0].subprotocol == "aqi.v1"
        feed.send([{"city": "Pune", "aqi": 7}])
        exporter.wait_for_sample(metrics.INDEX, 7, city="Pune")
    finally:
        feed.stop()


def test_the_environments_proxy_is_not_used(start, python_feed):
    """libwebsockets would, unless it is told otherwise; nothing listens on port 9 of this host."""
    proxy = {
        name: "http://127.0.0.1:9"
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy")
    }
    start.exporter("--feed.url", python_feed.url, *QUICK, environment=proxy)
    python_feed.wait_for_client()


# Where the readings come from


def test_the_source_is_in_the_log(start):
    def behave(peer):
        peer.read_request()
        source = (
            'Air-Quality-Source: open-meteo; kind=model; license="CC BY 4.0"\r\n'
            "air-quality-source: another\r\n"
        )
        peer.send(good(peer.accept, source).encode())
        peer.serve()

    with RawFeed(behave) as feed:
        exporter = start.exporter("--feed.url", feed.url, *QUICK)
        wait_for(lambda: exporter.count_lines('msg="Feed connected"'), "the connection")
        (line,) = [line for line in exporter.errors if "Feed connected" in line]
        assert "source=open-meteo" in line


# What cannot be given


@pytest.mark.parametrize("check", [[], ["--config.check"]], ids=["start", "check"])
@pytest.mark.parametrize("name", ["Host", "upgrade", "Sec-WebSocket-Key", "Content-Length"])
def test_a_name_of_the_handshakes_own_ends_the_start(programs, tmp_path, name, check):
    file = tmp_path / "headers"
    file.write_text(f"X-Good: 1\n{name}: hidden\n")
    given = {
        f"--feed.header={name}: hidden": "--feed.header ***: expected no header",
        f"--feed.header-file={file}": f'--feed.header-file "{file}": expected no header',
    }
    for flag, words in given.items():
        ended = programs.run(EXPORTER, "--feed.url=ws://127.0.0.1:1/", flag, *check)
        assert ended.process.returncode != 0 and ended.output == []
        assert len(ended.errors) == 1 and ended.errors[0].startswith(
            f"{EXPORTER}: {words} {name}, which"
        ), ended.errors


@pytest.fixture
def files(authority, tmp_path):
    certificate = authority.issue("client-of-files")
    other = authority.issue("other-of-files")
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    garbage = tmp_path / "garbage.pem"
    garbage.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    return {
        "--feed.ca-file": (authority.file, [empty, garbage, certificate.key]),
        "--feed.cert-file": (certificate.file, [empty, garbage, certificate.key]),
        "--feed.key-file": (certificate.key, [empty, certificate.file, other.key]),
    }


@pytest.mark.parametrize("check", [[], ["--config.check"]], ids=["start", "check"])
def test_a_file_for_tls_that_is_none_ends_the_start(programs, files, check):
    good_flags = {flag: path for flag, (path, _) in files.items()}
    ended = programs.run(
        EXPORTER,
        "--feed.url=wss://127.0.0.1:1/",
        "--config.check",
        *(f"{f}={p}" for f, p in good_flags.items()),
    )
    assert ended.process.returncode == 0, ended.errors
    for flag, (_, bad) in files.items():
        for path in bad:
            given = good_flags | {flag: path}
            ended = programs.run(
                EXPORTER,
                "--feed.url=wss://127.0.0.1:1/",
                *check,
                *(f"{f}={p}" for f, p in given.items()),
            )
            assert ended.process.returncode != 0 and ended.output == [], (flag, path)
            assert len(ended.errors) == 1, ended.errors
            assert ended.errors[0].startswith(f'{EXPORTER}: {flag} "{path}": expected '), (
                ended.errors
            )


def test_a_file_that_has_become_bad_fails_the_reload(start, files, tmp_path):
    path = tmp_path / "authorities.pem"
    path.write_bytes(files["--feed.ca-file"][0].read_bytes())
    exporter = start.exporter(
        "--feed.url=ws://127.0.0.1:1/",
        "--feed.ca-file", str(path),
        "--web.enable-lifecycle",
        *QUICK,
    )
    assert exporter.get("/-/reload", method="POST").status == 200
    path.write_text("")
    answer = exporter.get("/-/reload", method="POST")
    assert answer.status == 500
    assert f'--feed.ca-file "{path}": expected certificates of authorities in PEM' in answer.text
    wait_for(
        lambda: exporter.count_lines("Cannot connect to feeds: unusable file") == 1,
        "the line that says so",
    )
    path.write_bytes(files["--feed.ca-file"][0].read_bytes())
    assert exporter.get("/-/reload", method="POST").status == 200
