"""air-quality-feed as a server against a client that breaks RFC 6455 case by case, as Autobahn's
fuzzing client does.

Autobahn itself runs only under Python 2, which Debian no longer has. The cases are some of its
chapters 1 to 7 that concern a server that sends but does not echo, written from the RFC.
"""

import struct

import pytest

from support import raw_feed
from support.memory import IS_SANITIZED, within
from support.raw_feed import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT
from support.raw_http import connect, read_to_end

REQUEST = raw_feed.request("/feed")


def frame(opcode: int, payload: bytes = b"", **wrong) -> bytes:
    """A frame of the client; `raw_feed.frame` says what may be `wrong` with it."""
    wrong.setdefault("masked", True)
    content = raw_feed.masked(payload) if wrong["masked"] else payload
    return raw_feed.frame(opcode, content, **wrong)


def close(status: int, reason: bytes = b"") -> bytes:
    return frame(CLOSE, struct.pack(">H", status) + reason)


class Client(raw_feed.Connection):
    """The client's end of one connection, after the handshake."""

    def __init__(self, port: int, receive_buffer: int | None = None):
        super().__init__(connect(port, receive_buffer=receive_buffer))
        self.socket.sendall(REQUEST)
        head = self.read_head()
        assert head.startswith("HTTP/1.1 101 ")
        assert "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in head

    def read_frame(self) -> tuple[int, bytes]:
        opcode, payload, is_masked = self.take_frame()
        assert not is_masked
        return opcode, payload

    def read_control(self) -> tuple[int, bytes]:
        """The next frame that is not part of a message of the feed."""
        while True:
            opcode, payload = self.read_frame()
            if opcode not in (TEXT, CONTINUATION):
                return opcode, payload

    def read_end(self) -> None:
        """Checks that the server closes the connection without sending more, although the client's
        end stays open."""
        assert self._buffer == b""
        assert self.socket.recv(1) == b""


@pytest.fixture
def client(start):
    client = Client(start.feed("simulate", "--interval", "20ms", "--cities", "3").port)
    yield client
    client.socket.close()


def status_of(payload: bytes) -> int | None:
    return struct.unpack(">H", payload[:2])[0] if payload else None


NOT_UTF8 = b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80"

# Frames that end the connection, and the status of the server's close frame. FrameReaderTests has
# more violations.
ENDS = {
    "3.1 RSV3": (frame(TEXT, b"x", reserved=1), 1002),
    "5.18 text within text": (frame(TEXT, b"x", final=False) + frame(TEXT, b"y"), 1002),
    "a frame without a mask": (frame(TEXT, b"x", masked=False), 1002),
    "6.3 text that is not UTF-8": (frame(TEXT, NOT_UTF8), 1007),
    "7.3.2 close of one byte": (frame(CLOSE, b"x"), 1002),
    "7.5.1 close reason that is not UTF-8": (close(1000, NOT_UTF8), 1007),
    # Valid closes.
    "7.1.1 1000": (close(1000), 1000),
    "7.3.1 without a status": (frame(CLOSE), None),
    "7.3.5 with a reason of 123 bytes": (close(1000, b"x" * 123), 1000),
    "7.3.4 with a reason": (close(1001, "Grüße".encode()), 1001),
    "7.7 4999": (close(4999), 4999),
    "7.1.2 two closes": (close(1000) + close(1001), 1000),
    "7.1.3 followed by a ping": (close(1000) + frame(PING, b"late"), 1000),
    "7.1.4 followed by text": (close(1000) + frame(TEXT, b"late"), 1000),
    "7.1.5 between fragments": (
        frame(TEXT, b"a", final=False) + close(1000) + frame(CONTINUATION, b"b"),
        1000,
    ),
    "7.1.6 after 1 MB of text": (frame(TEXT, b"x" * (1 << 20)) + close(1000), 1000),
}


@pytest.mark.parametrize("sent, status", ENDS.values(), ids=ENDS)
def test_a_violation_or_close_gets_a_close_frame_and_ends_the_connection(client, sent, status):
    client.socket.sendall(sent)
    opcode, payload = client.read_control()
    assert (opcode, status_of(payload)) == (CLOSE, status)
    client.read_end()


# Pings


@pytest.mark.parametrize("payload", [b"", b"x" * 125], ids=len)
@pytest.mark.parametrize("piece", [1 << 20, 1], ids=["whole", "bytes"])
def test_a_ping_is_answered_with_its_payload(client, payload, piece):
    sent = frame(PING, payload)
    for start in range(0, len(sent), piece):
        client.socket.sendall(sent[start:start + piece])
    assert client.read_control() == (PONG, payload)


def test_the_newest_of_many_pings_is_answered(client):
    """RFC 6455, section 5.5.3: the others may be left out."""
    client.socket.sendall(b"".join(frame(PING, b"%d" % number) for number in range(10_000)))
    answered = []
    while not answered or answered[-1] != 9_999:
        opcode, payload = client.read_control()
        assert opcode == PONG
        answered.append(int(payload))
    assert answered == sorted(set(answered))


def test_a_client_that_sends_pings_without_reading_is_read_to_its_close(start):
    """Only the pong of the newest ping is queued; the close after 200,000 pings is read and
    answered."""
    count = 20_000 if IS_SANITIZED else 200_000
    feed = start.feed("simulate", "--interval", "20ms", "--cities", "3")
    pings = b"".join(frame(PING, b"%06d" % number * 20) for number in range(count))
    client = Client(feed.port, receive_buffer=4096)
    before = feed.peak_resident_bytes
    client.socket.sendall(pings + close(1000))
    controls = []
    while not controls or controls[-1][0] != CLOSE:
        controls.append(client.read_control())
    assert status_of(controls[-1][1]) == 1000
    assert controls[-2] == (PONG, b"%06d" % (count - 1) * 20)
    client.read_end()
    assert feed.peak_resident_bytes - before < within(16)
    client.socket.close()


# What clients may send


@pytest.mark.parametrize(
    "sent",
    [
        frame(TEXT),
        frame(TEXT, b"a", final=False),
        frame(PONG) + frame(PONG, b"unasked"),
        frame(BINARY, b"x" * (3 << 20)),
        frame(TEXT, b"\xce", final=False) + frame(CONTINUATION, b"\xba"),
        b"".join(
            frame(CONTINUATION if number else TEXT, b"x", final=number == 999)
            for number in range(1000)
        ),
    ],
    ids=["empty", "a beginning", "pongs", "3 MiB", "a character in fragments", "fragments of 1"],
)
def test_what_clients_send_is_ignored_except_for_a_ping_after_it(client, sent):
    client.socket.sendall(sent + frame(PING, b"still here"))
    assert client.read_control() == (PONG, b"still here")
    assert client.read_frame()[0] == TEXT


# Requests

# HandshakeTests has more cases.
REQUESTS = {
    "no request": (b"hello\r\n\r\n", b"400"),
    "no Upgrade": (REQUEST.replace(b"Upgrade: websocket\r\n", b""), b"426"),
    "100 KB": (REQUEST[:-2] + b"X: " + b"x" * 100_000 + b"\r\n\r\n", b"431"),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_that_is_not_a_websocket_handshake_is_rejected(start, name):
    request, status = REQUESTS[name]
    feed = start.feed("simulate")
    with connect(feed.port) as peer:
        peer.sendall(request)
        received = read_to_end(peer)
    assert received.startswith(b"HTTP/1.1 " + status + b" "), received
    head, _, body = received.partition(b"\r\n\r\n")
    assert body.count(b"\n") == 1 and body.endswith(b"\n")
    assert b"\r\nConnection: close" in head
