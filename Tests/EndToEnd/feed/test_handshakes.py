"""Unusual but valid handshake responses of servers, and what the client offers."""

import http

import pytest

from support import metrics
from support.faults import FLAGS
from support.peers import WebSocketFeed
from support.raw_feed import RawFeed, switching

QUICK = [f"{name}={value}" for name, value in FLAGS.items()]


def good(accept: str, more: str = "") -> str:
    return switching(accept, more).decode()


EARLY_HINTS = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"
# HandshakeTests and HTTPHeadTests have more cases.
RESPONSES = {
    "Transfer-Encoding: chunked": lambda accept: good(accept, "Transfer-Encoding: chunked\r\n"),
    "103 three times before it": lambda accept: EARLY_HINTS * 3 + good(accept),
}


@pytest.mark.parametrize("name", RESPONSES)
def test_an_unusual_handshake_response_is_accepted(start, name):
    def behave(peer):
        peer.read_request()
        peer.send(RESPONSES[name](peer.accept).encode())
        peer.send_reading(7)
        peer.serve()

    with RawFeed(behave) as feed:
        exporter = start.exporter("--feed.url", feed.url, *QUICK)
        exporter.wait_for_sample(metrics.INDEX, 7, city="Pune")
        page = exporter.scrape()
        assert page.value(metrics.CONNECTED) == 1
        assert page.nonzero(metrics.DISCONNECTS, "reason") == {}


# Refusals


@pytest.mark.parametrize(
    "status, body, words, flag",
    [
        (
            http.HTTPStatus.BAD_REQUEST, '{"code":0,"message":"Transport unknown"}',
            "Transport unknown", None,
        ),
        (http.HTTPStatus.FORBIDDEN, "Origin not allowed\n", "Origin not allowed", "--feed.header"),
        (
            http.HTTPStatus.NOT_FOUND, "x" * 199 + "yz", "Not Found: " + "x" * 199 + "y",
            "--feed.header",
        ),
        (http.HTTPStatus.OK, "Welcome to SockJS!\n", "Welcome to SockJS!", None),
    ],
)
def test_the_words_of_a_refusal_are_in_the_log_alone(start, status, body, words, flag):
    def refuse(connection, request):
        return connection.respond(status, body)

    with WebSocketFeed(process_request=refuse) as feed:
        exporter = start.exporter("--feed.url", feed.url, *QUICK)
        line = exporter.wait_for_line("Feed unreachable")
        assert f"status {status.value} instead of 101" in line and "reason=handshake" in line
        assert words.replace('"', '\\"') in line and "yz" not in line
        assert flag is None or f"{flag} with" in line and "Origin" in line
        ready = exporter.get("/-/ready").text
        assert words not in ready and f"status {status.value}" in ready


@pytest.mark.parametrize(
    "status, field",
    [
        ("302 Found", "Location: wss://127.0.0.1/feed/token0"),
        ("101 Switching Protocols", "Sec-WebSocket-Protocol: token0"),
        ("101 Switching Protocols", "Sec-WebSocket-Extensions: token0"),
        ("101 Switching Protocols", "Sec-WebSocket-Extensions: permessage-deflate; token0"),
    ],
)
def test_a_field_of_a_refused_handshake_is_in_the_log_alone(start, status, field):
    def refuse(peer):
        peer.read_request()
        response = peer.answer(more=field + "\r\n")
        peer.send(response.replace(b"101 Switching Protocols", status.encode()))

    with RawFeed(refuse) as feed:
        exporter = start.exporter("--feed.url", feed.url, *QUICK)
        line = exporter.wait_for_line("Feed unreachable")
        assert "token0" in line and "reason=handshake" in line
        ready = exporter.get("/-/ready").text
        assert "token0" not in ready and f"status {status[:3]}" in ready


def test_a_server_without_a_response_may_have_another_path(start):
    with RawFeed(lambda peer: peer.read_request()) as feed:
        exporter = start.exporter("--feed.url", feed.url, *QUICK)
        line = exporter.wait_for_line("Feed unreachable")
        assert "reason=lost" in line and "path" in line


# Subprotocols


def test_the_subprotocol_is_negotiated_with_a_third_party_server(start):
    with WebSocketFeed(subprotocols=["aqi.v1"]) as feed:
        exporter = start.reader(
            feed, "--feed.subprotocol=aqi.v2", "--feed.subprotocol", "aqi.v1", *QUICK
        )
        assert feed.requests[0].headers["Sec-WebSocket-Protocol"] == "aqi.v2, aqi.v1"
        assert feed.clients[0].subprotocol == "aqi.v1"
        feed.send([{"city": "Pune", "aqi": 7}])
        exporter.wait_for_sample(metrics.INDEX, 7, city="Pune")


def test_a_proxy_from_the_environment_is_not_used(start, python_feed):
    """By default, libwebsockets uses one. Nothing listens on port 9 of this host."""
    proxy = {
        name: "http://127.0.0.1:9"
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy")
    }
    start.reader(python_feed, *QUICK, environment=proxy)


def test_a_file_of_authorities_that_has_become_invalid_fails_the_reload(start, authority, tmp_path):
    path = tmp_path / "authorities.pem"
    path.write_bytes(authority.file.read_bytes())
    exporter = start.exporter(
        "--feed.url=ws://127.0.0.1:1/",
        "--feed.ca-file", str(path),
        "--web.enable-lifecycle",
        *QUICK,
    )
    assert exporter.get("/-/reload", method="POST").status == 200
    path.write_text("")
    response = exporter.get("/-/reload", method="POST")
    assert response.status == 500
    assert f'--feed.ca-file "{path}": expected certificates of authorities in PEM' in response.text
    exporter.wait_for_line("Feeds not loaded, keeping the previous ones", 1)
    path.write_bytes(authority.file.read_bytes())
    assert exporter.get("/-/reload", method="POST").status == 200
