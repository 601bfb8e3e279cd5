"""The faults of a feed: what a bad server does, and what the exporter must make of it."""

import dataclasses
import socket
import struct
import zlib
from collections.abc import Callable

from support.raw_feed import (
    BINARY,
    CLOSE,
    COMPRESSION,
    CONTINUATION,
    PING,
    PONG,
    TEXT,
    Behaviour,
    Gone,
    Peer,
    compressed,
    frame,
    message,
)

CONNECT, PING_INTERVAL, PONG_TIMEOUT, IDLE, RECONNECT = 1.0, 0.3, 1.0, 2.0, 0.2
FLAGS = {
    "--feed.reconnect-min": "50ms",
    "--feed.reconnect-max": "200ms",
    "--feed.max-message-bytes": "256KiB",
}
#: The limits that a fault runs into. The others stay long: on a busy machine even a good server
#: answers late.
LIMITS = {
    "timeout": {"--feed.connect-timeout": "1s"},
    "pong_timeout": {"--feed.ping-interval": "300ms", "--feed.pong-timeout": "1s"},
    "idle": {"--feed.ping-interval": "300ms", "--feed.idle-timeout": "2s"},
}
MIB = 1 << 20


@dataclasses.dataclass
class Fault:
    name: str
    act: Behaviour
    #: The disconnect that is counted, once; none: the connection stays.
    reason: str | None = None
    #: Within how many seconds the flags say it is noticed.
    limit: float = 0
    #: How long the server has asked not to be dialled.
    retry_after: float = 0
    #: Counted rejections of messages, by reason.
    rejections: dict[str, int] = dataclasses.field(default_factory=dict)
    #: Other than `FLAGS` and those of `LIMITS`.
    flags: dict[str, str] = dataclasses.field(default_factory=dict)
    #: Whether the exporter gets a reading before the fault.
    is_after_reading: bool = False
    #: What the frame has to say that the exporter closes with.
    close_status: int | None = None

    @property
    def all_flags(self) -> list[str]:
        flags = FLAGS | LIMITS.get(self.reason, {}) | self.flags
        return [f"{name}={value}" for name, value in flags.items()]


def after_reading(act: Behaviour, extensions: str | None = None) -> Behaviour:
    """The fault comes when the client has read the first reading."""

    def behave(peer: Peer) -> None:
        peer.open(extensions)
        peer.send_reading(1)
        peer.wait_for_pong(b"before the fault")
        peer.fault()
        act(peer)
        peer.serve()

    return behave


def answering(head: str) -> Behaviour:
    """Answers the handshake with these lines."""

    def behave(peer: Peer) -> None:
        peer.read_request()
        peer.fault()
        peer.send(head.replace("\n", "\r\n").encode() + b"\r\n\r\n")

    return behave


def sending(*frames: bytes) -> Behaviour:
    return lambda peer: peer.send(*frames)


def then_a_reading(act: Behaviour) -> Behaviour:
    """For what is no reason to disconnect: the next reading comes by the same connection."""

    def behave(peer: Peer) -> None:
        act(peer)
        peer.send_reading(2)

    return behave


def never_answer(peer: Peer) -> None:
    peer.fault()
    peer.read_request()
    peer.read_nothing()


def answer_slowly(peer: Peer) -> None:
    peer.fault()
    peer.read_request()
    for byte in b"HTTP/1.1 101 Switching Protocols\r\nX-Slow: " + b"x" * 10_000:
        peer.send(bytes([byte]))
        peer.feed.is_stopping.wait(0.02)


def answer_without_end(peer: Peer) -> None:
    peer.read_request()
    peer.fault()
    peer.send(b"HTTP/1.1 101 Switching Protocols\r\n")
    for number in range(10_000):
        peer.send(f"X-{number}: ".encode() + b"x" * 1000 + b"\r\n")


def talk_something_else(peer: Peer) -> None:
    answering("SSH-2.0-OpenSSH_9.2")(peer)
    peer.read_nothing()


def end_before_answer(peer: Peer) -> None:
    peer.read_request()
    peer.fault()


def reset_before_answer(peer: Peer) -> None:
    peer.read_request()
    peer.fault()
    peer.reset()


def answer_and_message(peer: Peer) -> None:
    peer.read_request()
    peer.fault()
    peer.send(peer.answer(), frame(TEXT, message(2)))
    peer.serve()


def interim_answers_without_end(peer: Peer) -> None:
    peer.read_request()
    peer.fault()
    while True:
        peer.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100)


def redirect(status: str, location: Callable[[Peer], str]) -> Behaviour:
    return lambda peer: answering(
        f"HTTP/1.1 {status}\nLocation: {location(peer)}\nContent-Length: 0"
    )(peer)


def half_a_frame(peer: Peer) -> None:
    peer.send(frame(TEXT, message(9), length=1000))
    peer.read_nothing()


def half_a_frame_byte_by_byte(peer: Peer) -> None:
    peer.send(frame(TEXT, length=100_000))
    while not peer.feed.is_stopping.wait(0.1):
        peer.send(b"x")


def huge_frame(peer: Peer) -> None:
    peer.send(frame(TEXT, length=(1 << 63) - 1))
    while not peer.feed.is_stopping.is_set():
        peer.send(b"x" * 65536)


def read_nothing(peer: Peer) -> None:
    peer.read_nothing()


def be_silent(peer: Peer) -> None:
    pass


def end_stream(peer: Peer) -> None:
    raise Gone


def end_stream_in_a_frame(peer: Peer) -> None:
    peer.send(frame(TEXT, message(9), length=1000))
    raise Gone


def reset(peer: Peer) -> None:
    peer.reset()
    raise Gone


def ping_flood(peer: Peer) -> None:
    """More than the client can answer: it may leave out all but the last (RFC 6455, section
    5.5.3)."""
    for number in range(1000):
        peer.send(*(frame(PING, struct.pack(">I", number * 100 + index)) for index in range(100)))
    # Before, it was as slow as this program.
    peer.fault()
    while peer.read_frame() != (PONG, struct.pack(">I", 99_999)):
        pass


def ping_flood_unread(peer: Peer) -> None:
    """The client's answers fill its socket."""
    for _ in range(2000):
        peer.send(frame(PING, b"x" * 125) * 100)


def in_bytes(*frames: bytes) -> Behaviour:
    """Each byte in a segment of its own."""

    def behave(peer: Peer) -> None:
        for byte in b"".join(frames):
            peer.send(bytes([byte]))

    return behave


def one_byte_fragments(peer: Peer) -> None:
    """A reading, each byte of it a frame."""
    text = message(2)
    peer.send(frame(TEXT, text[:1], final=False))
    for index in range(1, len(text)):
        peer.send(frame(CONTINUATION, text[index : index + 1], final=False))
    peer.send(frame(CONTINUATION))


def large_message(peer: Peer) -> None:
    peer.send(frame(TEXT, length=64 * MIB))
    for _ in range(64):
        peer.send(b" " * MIB)


def endless_fragments(peer: Peer) -> None:
    """One message for the size limit, though each frame is small."""
    peer.send(frame(TEXT, b"[", final=False))
    for _ in range(1000):
        peer.send(frame(CONTINUATION, b" " * 65_000, final=False))
    peer.send(frame(CONTINUATION, b"]"))


#: 256 MiB of blanks, 255 KiB of them sent.
BOMB = compressed(b" " * (256 * MIB))


def bomb(peer: Peer) -> None:
    peer.send(frame(TEXT, BOMB, reserved=4))


def in_context(peer: Peer) -> None:
    """Messages that refer to those before them, compressed with the smallest window."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -9)
    for text in (message(2), message(2), message(2)):
        payload = deflate.compress(text) + deflate.flush(zlib.Z_SYNC_FLUSH)
        peer.send(frame(TEXT, payload[:-4], reserved=4))


def closing(status: int | None, reason: bytes = b"") -> Behaviour:
    payload = b"" if status is None else struct.pack(">H", status) + reason
    return lambda peer: peer.send(frame(CLOSE, payload))


def wrong(
    name: str,
    *frames: bytes,
    act: Behaviour | None = None,
    close_status: int = 1002,
) -> Fault:
    """The server breaks RFC 6455."""
    return Fault(
        name, after_reading(act or sending(*frames)), "protocol", is_after_reading=True,
        close_status=close_status)


def borne(name: str, act: Behaviour, extensions: str | None = None, **fields) -> Fault:
    """No reason to disconnect."""
    return Fault(name, after_reading(act, extensions), is_after_reading=True, **fields)


def lasting(name: str, act: Behaviour, reason: str, limit: float = 0, **fields) -> Fault:
    """The connection ends, with a reason other than `protocol`."""
    return Fault(name, after_reading(act), reason, limit, is_after_reading=True, **fields)


# Bound for as long as the tests run, so that nobody else gets it, and not listened on.
_CLOSED = socket.socket()
_CLOSED.bind(("127.0.0.1", 0))
CLOSED_PORT = _CLOSED.getsockname()[1]

DEAD = PING_INTERVAL + PONG_TIMEOUT

FAULTS = [
    # Dial and handshake.
    Fault("no answer to the handshake", never_answer, "timeout", CONNECT),
    Fault("answer byte by byte, without end", answer_slowly, "timeout", CONNECT),
    Fault("answer with 10 MB of header fields", answer_without_end, "handshake"),
    Fault("end of stream instead of an answer", end_before_answer, "lost"),
    Fault("reset instead of an answer", reset_before_answer, "lost"),
    Fault("interim answers without end", interim_answers_without_end, "handshake"),
    Fault("answer that is not HTTP, then silence", talk_something_else, "handshake"),
    Fault(
        "status 503, Retry-After: 1",
        answering("HTTP/1.1 503 Service Unavailable\nRetry-After: 1\nContent-Length: 0"),
        "handshake",
        retry_after=1,
    ),
    Fault("status 101 and a message in one segment", answer_and_message),
    Fault(
        "redirect to the good server",
        redirect("302 Found", lambda peer: peer.feed.url + "elsewhere"),
        "handshake",
    ),
    # Liveness.
    lasting("half a frame, then silence", half_a_frame, "pong_timeout", DEAD),
    lasting(
        "half a frame, then silence, no pings", half_a_frame, "idle", IDLE,
        flags={"--feed.ping-interval": "0"},
    ),
    lasting("half a frame, then a byte each 100 ms", half_a_frame_byte_by_byte, "idle", IDLE),
    lasting(
        "half a message, then only pongs", sending(frame(TEXT, b"[", final=False)), "idle", IDLE
    ),
    lasting("a frame of 2^63 − 1 bytes, as fast as it goes", huge_frame, "idle", IDLE),
    lasting("200,000 pings, answers not read", ping_flood_unread, "idle", IDLE),
    lasting("neither reads nor answers", read_nothing, "pong_timeout", DEAD),
    lasting("silent, answers pings", be_silent, "idle", IDLE),
    lasting("reset", reset, "lost"),
    lasting("end of stream", end_stream, "lost"),
    lasting("end of stream in a frame", end_stream_in_a_frame, "lost"),
    # Close frames.
    lasting("close 1000", closing(1000, b"bye"), "closed", close_status=1000),
    lasting("close without a status", closing(None), "closed"),
    wrong("close reason that is not UTF-8", act=closing(1000, b"\xff"), close_status=1007),
    # Frames. FrameReaderTests has all other violations.
    wrong("masked frame", frame(TEXT, message(9), masked=True)),
    wrong("message, then garbage", frame(TEXT, message(1)), b"\xff" * 1000),
    # What is no reason to disconnect.
    borne("100,000 pings", then_a_reading(ping_flood)),
    borne("fragments of 1 byte", one_byte_fragments),
    borne(
        "each byte in a segment of its own",
        in_bytes(frame(PING, b"x" * 125), frame(TEXT, message(2))),
    ),
    borne(
        "text that is not UTF-8",
        then_a_reading(sending(frame(TEXT, b'[{"city":"\xff","aqi":1}]'))),
        rejections={"not_json": 1},
    ),
    borne("binary message", then_a_reading(sending(frame(BINARY, message(9))))),
    borne(
        "message of 64 MiB, limit 256 KiB",
        then_a_reading(large_message),
        rejections={"too_large": 1},
    ),
    borne(
        "65 MB in fragments, limit 256 KiB",
        then_a_reading(endless_fragments),
        rejections={"too_large": 1},
    ),
    borne(
        "compressed message", sending(frame(TEXT, compressed(message(2)), reserved=4)), COMPRESSION
    ),
    borne(
        "a window of 512 bytes that was not asked for",
        in_context,
        "permessage-deflate; server_max_window_bits=9",
    ),
    borne(
        "bomb: 256 MiB, compressed 1000 times",
        then_a_reading(bomb),
        COMPRESSION,
        rejections={"too_large": 1},
    ),
]
