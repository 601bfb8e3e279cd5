"""Invalid, broken, hostile and unusual requests: which responses they get, and that nobody else is
affected."""

import json
import re
import socket
import ssl

import pytest

from support import libmicrohttpd, metrics
from support.peers import WebSocketFeed
from support.raw_http import GOODBYE, connect, exchange, parse_responses, read_to_end
from support.responses import Response, expect_json_error, expect_one_line
from support.web_configuration import tls


@pytest.fixture(scope="module")
def exporter(programs):
    """One exporter for all attacks, so that each test meets what the previous ones left."""
    with (
        WebSocketFeed() as feed,
        programs.exporter("--feed.url", feed.url, "--history.interval", "0") as exporter,
    ):
        feed.wait_for_client()
        feed.send([{"city": "Pune", "aqi": 7}])
        exporter.wait_for_sample(metrics.CITIES, 1)
        yield exporter


@pytest.fixture(autouse=True)
def stays_healthy(request):
    yield
    if "exporter" in request.fixturenames:
        exporter = request.getfixturevalue("exporter")
        assert exporter.is_running
        assert exporter.scrape().value(metrics.CITIES) > 0
        exporter.wait_for_sample(metrics.IN_FLIGHT, 1)


def expect_plain_line(response: Response) -> None:
    """One line that echoes no markup from the request."""
    expect_one_line(response)
    assert "<" not in response.text


def is_page_of_library(response: Response) -> bool:
    """The library's own page, which echoes nothing from the request."""
    pattern = (
        rb"<html><head><title>[A-Za-z &;:-]+</title></head>"
        rb"<body>[A-Za-z0-9 :,.&;/<>-]+</body></html>"
    )
    return (
        libmicrohttpd.REJECTS
        and response.status in (400, 413, 431)
        and re.fullmatch(pattern, response.body) is not None
    )


def ask(exporter, target: str, method: str = "GET", host: str = "x", fields: str = "") -> Response:
    """The only response to a request whose target is sent unchanged."""
    fields = f"Host: {host}\r\nConnection: close\r\n{fields}"
    request = f"{method} {target} HTTP/1.1\r\n{fields}\r\n".encode()
    (response,) = parse_responses(exchange(exporter.port, request), method)
    return response


@pytest.mark.parametrize(
    "path, host, status, line",
    [
        ("/nowhere", "x", 404, "not found; see /about for all paths\n"),
        ("/metrics", "x/y", 400, "invalid Host header\n"),
    ],
)
def test_an_error_response_says_what_is_wrong(exporter, path, host, status, line):
    response = ask(exporter, path, host=host)
    assert (response.status, response.text) == (status, line) or is_page_of_library(response)


# HTTPRequestTests has more cases.
@pytest.mark.parametrize(
    "target, status",
    [
        ("/metrics%0d%0aX-Injected:%20yes", 404),
        ("/<script>alert(1)</script>", 404),
        ("http://somewhere.else/metrics", 200),
        ("/metrics?" + "a" * 8183, 200),
        ("/" + "a" * 8192, 414),
        ("/metrics?" + "a" * 8192, 414),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_request_target_gets_the_expected_status(exporter, target, status):
    response = ask(exporter, target)
    assert response.status == status
    assert "X-Injected" not in response.headers
    if status >= 400:
        expect_plain_line(response)


@pytest.mark.parametrize("size", [30_000, 100_000])
def test_an_overlong_target_is_rejected(exporter, size):
    request = b"GET /" + b"a" * size + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    responses = parse_responses(exchange(exporter.port, request))
    assert [response.status for response in responses] in ([], [414], [431])


@pytest.mark.parametrize("method", ["POST", "CONNECT", "get", "G" * 100])
def test_methods_other_than_get_and_head_are_not_allowed(exporter, method):
    for path in ("/metrics", "/", "/-/healthy", "/-/ready", "/history.json"):
        response = ask(exporter, path, method)
        assert (response.status, response.headers["Allow"]) == (405, "GET, HEAD")
        (expect_json_error if path == "/history.json" else expect_plain_line)(response)
    assert ask(exporter, "/nothing", method).status == 404


def asking(fields: str, rest: bytes = b"", line: str = "POST /metrics HTTP/1.1") -> bytes:
    return f"{line}\r\nHost: x\r\n{fields}\r\n".encode() + rest


CHUNKED = "Transfer-Encoding: chunked\r\n"

# Rejected requests and their statuses. The response is a line of text, or a JSON error for a JSON
# path, and the last one of its connection. HTTPFramingTests, HTTPHeaderTests and HTTPServerTests
# have more cases.
REFUSED = {
    "no host": (b"GET /metrics HTTP/1.1\r\n\r\n", 400),
    "no host for the history": (b"GET /history.json HTTP/1.1\r\n\r\n", 400),
    "two hosts": (asking("host: y\r\n"), 400),
    "two hosts, HTTP/1.0": (b"GET /metrics HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n", 400),
    "no host, HTTP/1.2": (b"GET /metrics HTTP/1.2\r\n\r\n", 400),
    "a target without a slash": (asking("", line="GET metrics HTTP/1.1"), 400),
    "a tunnel": (asking("", line="CONNECT host:80 HTTP/1.1"), 400),
    "a negative length, and Expect": (
        asking("Content-Length: -1\r\nExpect: 100-continue\r\n"),
        400,
    ),
    "a negative length for the history": (
        asking("Content-Length: -1\r\n", line="GET /history.json HTTP/1.1"),
        400,
    ),
    "length and chunks": (
        asking("Content-Length: 4\r\n" + CHUNKED, b"0\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"),
        400,
    ),
    "chunks": (asking(CHUNKED, b"1\r\nx\r\n0\r\n\r\n"), 411),
    "bad chunks": (asking(CHUNKED, b"zz\r\nabc\r\n"), 411),
    "a chunk size beyond all integers": (asking(CHUNKED, b"f" * 40 + b"\r\n"), 411),
    "a chunk with a long extension": (asking(CHUNKED, b"1;" + b"x" * 10_000 + b"\r\n"), 411),
    "chunks with a bad trailer": (asking(CHUNKED, b"0\r\nnonsense\r\n\r\n"), 411),
    "another transfer coding": (asking("Transfer-Encoding: gzip, chunked\r\n", b"0\r\n\r\n"), 411),
    # The content is neither wanted nor read.
    "some content": (asking("Content-Length: 2\r\n", b"ab"), 405),
    "an overlong target": (asking("", line=f"GET /{'a' * 9000} HTTP/1.1"), 414),
    "an overlong query": (asking("", line=f"GET /history.json?{'city=A&' * 1300} HTTP/1.1"), 414),
    "a header of 17 kB": (asking(f"X: {'a' * 17_000}\r\n", line="GET /metrics HTTP/1.1"), 431),
    "a cookie of 17 kB": (
        asking(f"Cookie: {'a=b; ' * 3400}\r\n", line="GET /metrics HTTP/1.1"),
        431,
    ),
    "a hundred and one fields": (asking("X: y\r\n" * 100, line="GET /metrics HTTP/1.1"), 431),
    # Lines that other servers could read differently.
    "a continued line": (asking("X: y\r\n z\r\n"), 400),
}

# Requests that libmicrohttpd itself rejects because their header is incomplete: with its own page,
# or without a response.
UNREADABLE = {
    "not HTTP": (b"\x01\x02\x03\x00" * 64, None),
    "a TLS greeting": (bytes.fromhex("16030100c8010000c40303") + b"\xaa" * 193, None),
    "the preface of HTTP/2": (
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
        505,
    ),
    "only a method": (b"GET\r\n", None),
    "HTTP/0.9": (b"GET /metrics\r\n", 400),
    "HTTP/9.9": (asking("", line="GET /metrics HTTP/9.9"), 505),
    "no version": (asking("", line="GET /metrics FTP/1.1"), 400),
    "a field without a colon": (asking("nonsense\r\n"), 400),
    "a header of 64 KiB": (asking(f"X: {'a' * 65536}\r\n"), 431),
    "many fields": (asking("X: aaaaaaa\r\n" * 6000), 431),
    "a header without end": (b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 65536, 431),
    "a cookie of 64 KiB": (asking(f"Cookie: {'a=b; ' * 13000}\r\n"), 431),
}

BEFORE = b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(scope="module")
def tls_exporter(programs, authority, server, tmp_path_factory):
    """The exporter over TLS, and what a client needs."""
    web = tmp_path_factory.mktemp("tls") / "web.yml"
    web.write_text(json.dumps(tls(server)))
    with programs.exporter("--feed.demo", "--web.config.file", str(web)) as exporter:
        yield exporter, ssl.create_default_context(cafile=authority.file)


@pytest.fixture(params=["plain", "plain, second request", "TLS, second request"])
def rejections(request, exporter):
    """Sends a request that ends its connection, alone or after a good one, and a good one after it.
    Returns the responses to it."""

    def send(request_bytes: bytes) -> list[Response]:
        sent = (BEFORE if is_second else b"") + request_bytes + GOODBYE
        responses = parse_responses(exchange(port, sent, tls=context))
        if is_second and responses:
            assert responses.pop(0).status == 200
        return responses

    is_second = request.param.endswith("second request")
    port, context = exporter.port, None
    if request.param.startswith("TLS"):
        secure, context = request.getfixturevalue("tls_exporter")
        port = secure.port
    return send


@pytest.mark.parametrize("request_bytes, status", REFUSED.values(), ids=REFUSED)
def test_an_invalid_request_is_rejected_and_ends_its_connection(rejections, request_bytes, status):
    responses = rejections(request_bytes)
    # What follows such a request is not read as another request.
    assert len(responses) == 1
    assert responses[0].headers["Connection"] == "close"
    if is_page_of_library(responses[0]):
        return
    assert responses[0].status == status
    is_json = b" /history.json" in request_bytes
    (expect_json_error if is_json else expect_plain_line)(responses[0])


@pytest.mark.parametrize("request_bytes, status", UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_request_ends_its_connection(rejections, request_bytes, status):
    responses = rejections(request_bytes)
    # If the server closes while more is arriving, its response can be lost.
    wanted = [status] if status else []
    is_lost = not responses and len(request_bytes) > 10_000
    assert is_lost or [response.status for response in responses] == wanted


@pytest.mark.parametrize("request_bytes", [
    asking("Content-Length: 1000000\r\n", b"x" * 1_000_000),
    asking(CHUNKED, (b"400\r\n" + b"x" * 0x400 + b"\r\n") * 1000 + b"0\r\n\r\n"),
], ids=["content", "chunks"])
def test_request_content_of_a_megabyte_is_not_read(rejections, request_bytes):
    # The response can be lost, as above.
    assert [response.status for response in rejections(request_bytes)] in ([], [405], [411])


def test_a_request_with_many_parameters_and_cookies_is_accepted(exporter):
    query = "&".join(f"city=C{number}" for number in range(350))
    for _ in range(2):
        response = ask(
            exporter, f"/history.json?{query}&city=Pune", fields=f"Cookie: {'a=b; ' * 700}\r\n"
        )
        assert response.status == 200
        assert {point["city"] for point in json.loads(response.body)["points"]} == {"Pune"}


def test_pipelined_requests_are_answered_in_order(exporter):
    wanted = [
        ("GET", "/metrics", 200),
        ("HEAD", "/history.json", 200),
        ("GET", "/nothing", 404),
        ("GET", "/history.json?limit=0", 400),
        ("POST", "/metrics", 405),
        ("GET", "/-/healthy", 200),
        ("GET", "/metrics%0a", 404),
        ("HEAD", "/", 200),
    ] * 25
    fields = {"POST": "Content-Length: 0\r\n"}
    request = b"".join(
        f"{method} {path} HTTP/1.1\r\nHost: x\r\n{fields.get(method, '')}\r\n".encode()
        for method, path, _ in wanted
    )
    received = exchange(exporter.port, request + GOODBYE.lstrip())
    responses = parse_responses(received, *(method for method, _, _ in wanted))
    assert [each.status for each in responses] == [status for _, _, status in wanted] + [200]


def test_a_request_sent_byte_by_byte_is_answered(exporter):
    with connect(exporter.port) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in b"GET /-/healthy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n":
            client.sendall(bytes([byte]))
        received = read_to_end(client)
    assert [response.status for response in parse_responses(received)] == [200]
