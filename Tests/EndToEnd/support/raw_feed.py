"""A WebSocket server on raw sockets: it follows RFC 6455 unless it is told to break it."""

import base64
import contextlib
import hashlib
import json
import re
import socket
import ssl
import struct
import threading
import time
import zlib
from collections.abc import Callable

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10

#: The mask of masked frames.
MASK = b"\x01\x02\x03\x04"

COMPRESSION = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"


def request(path: str = "/") -> bytes:
    """A client's handshake."""
    return (
        f"GET {path} HTTP/1.1\r\nHost: feed\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    ).encode()


def connect(url: str, path: str = "/", source: str = "127.0.0.1") -> socket.socket:
    """A client at the address `source` that has sent its handshake and read nothing."""
    host, port = url.removeprefix("ws://").removesuffix("/").rsplit(":", 1)
    client = socket.create_connection((host, int(port)), timeout=30, source_address=(source, 0))
    client.sendall(request(path))
    return client


def frame(
    opcode: int, payload: bytes = b"", final: bool = True, reserved: int = 0, masked: bool = False,
    length: int | None = None,
) -> bytes:
    """A frame (RFC 6455, section 5.2).

    `reserved`: the bits RSV1 (4), RSV2 (2), RSV3 (1); `length`: the length in the header, if it is
    not the payload's; `masked`: the payload is already masked.
    """
    length = len(payload) if length is None else length
    mask = 0x80 if masked else 0
    header = bytes([final << 7 | reserved << 4 | opcode])
    if length < 126:
        header += bytes([mask | length])
    elif length < 1 << 16:
        header += bytes([mask | 126]) + struct.pack(">H", length)
    else:
        header += bytes([mask | 127]) + struct.pack(">Q", length)
    return header + (MASK if masked else b"") + payload


def masked(payload: bytes, mask: bytes = MASK) -> bytes:
    return bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))


def accept(key: str) -> str:
    """The server's response to a client's key (RFC 6455, section 4.2.2)."""
    digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
    return base64.b64encode(digest).decode()


def switching(accept: str, more: str = "") -> bytes:
    """A response of status 101; `more`: lines with their ends."""
    return (
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Accept: {accept}\r\n{more}\r\n"
    ).encode()


def compressed(text: bytes) -> bytes:
    """A message's payload, compressed by permessage-deflate (RFC 7692, section 7.2.1)."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return (deflate.compress(text) + deflate.flush(zlib.Z_SYNC_FLUSH))[:-4]


def message(value: float, city: str = "Pune") -> bytes:
    return json.dumps([{"city": city, "aqi": value}]).encode()


class Gone(Exception):
    """The other end has closed."""


class Connection:
    """One end of a connection, which reads frames."""

    def __init__(self, connection: socket.socket):
        self.socket = connection
        self._buffer = b""

    def read_head(self) -> str:
        """The head of a request or a response, without its end."""
        while b"\r\n\r\n" not in self._buffer:
            self._fill()
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        return head.decode()

    def take_frame(self) -> tuple[int, bytes, bool]:
        """Opcode, payload, and whether it was masked."""
        first, second = self._take(2)
        assert first & 0x70 == 0, "a frame has a reserved bit"
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack(">H", self._take(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self._take(8))
        if second & 0x80:
            mask = self._take(4)
            return first & 0x0F, masked(self._take(length), mask), True
        return first & 0x0F, self._take(length), False

    def _take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._fill()
        taken, self._buffer = self._buffer[:count], self._buffer[count:]
        return taken

    def _fill(self) -> None:
        try:
            received = self.socket.recv(1 << 16)
        except OSError as error:
            raise Gone from error
        if not received:
            raise Gone
        self._buffer += received


class Peer(Connection):
    """The server's end of one connection."""

    def __init__(self, feed: "RawFeed", connection: socket.socket, number: int):
        super().__init__(connection)
        self.feed = feed
        #: 1 for the first connection to the feed.
        self.number = number
        self.request = ""
        #: The frames of the client, as opcode and payload.
        self.received: list[tuple[int, bytes]] = []
        #: Set once the first reading is sent.
        self.is_open = threading.Event()

    # Handshake

    def read_request(self) -> None:
        self.request = self.read_head()

    @property
    def accept(self) -> str:
        """The right `Sec-WebSocket-Accept` of the response."""
        key = re.search(r"(?im)^Sec-WebSocket-Key: *(\S+)", self.request)
        return accept(key[1] if key else "")

    def answer(
        self, extensions: str | None = None, accept: str | None = None, more: str = ""
    ) -> bytes:
        """The valid response of status 101, or one with these fields wrong; `more`: lines with
        their ends."""
        offered = f"Sec-WebSocket-Extensions: {extensions}\r\n" if extensions else ""
        return switching(accept or self.accept, offered + more)

    def open(self, extensions: str | None = None) -> None:
        self.read_request()
        self.send(self.answer(extensions))

    # Frames

    def fault(self) -> None:
        """Notes the time from which the client can notice the fault."""
        # By the clock of the exporter's log and metrics.
        self.feed.fault_at = time.time()

    def send(self, *pieces: bytes) -> None:
        try:
            self.socket.sendall(b"".join(pieces))
        except OSError as error:
            raise Gone from error

    def send_reading(self, value: float) -> None:
        self.send(frame(TEXT, message(value)))

    def read_frame(self) -> tuple[int, bytes]:
        opcode, payload, is_masked = self.take_frame()
        assert is_masked, "a frame of the client is not masked"
        self.received.append((opcode, payload))
        return opcode, payload

    def wait_for_pong(self, payload: bytes) -> None:
        """Waits until the client has read all that was sent."""
        self.send(frame(PING, payload))
        while self.read_frame() != (PONG, payload):
            pass

    def serve(self) -> None:
        """Behaves as a good server does until the client closes."""
        while True:
            opcode, payload = self.read_frame()
            if opcode == PING:
                self.send(frame(PONG, payload))
            elif opcode == CLOSE:
                self.send(frame(CLOSE, payload))
                return

    def read_nothing(self) -> None:
        """Neither reads nor responds until the client closes."""
        # A reset or an end of the stream are seen without reading.
        while True:
            with contextlib.suppress(BlockingIOError):
                state = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
                if state != 1:  # TCP_ESTABLISHED
                    return
            if self.feed.is_stopping.wait(0.01):
                return

    def reset(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def end_sending(self) -> None:
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError as error:
            raise Gone from error

    def secure(self, context: ssl.SSLContext) -> None:
        try:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        except OSError as error:
            raise Gone from error
        self.feed.connections.append(self.socket)


Behaviour = Callable[[Peer], None]


def good(peer: Peer) -> None:
    """A good feed, whose reading is the number of its connection."""
    peer.open()
    peer.send_reading(peer.number)
    peer.is_open.set()
    peer.serve()


class RawFeed:
    """Gives each connection the next behaviour, and further connections the last one."""

    def __init__(self, *behaviours: Behaviour, host: str = "127.0.0.1"):
        self.behaviours = list(behaviours)
        self.peers: list[Peer] = []
        self.connections: list[socket.socket] = []
        self.failures: list[BaseException] = []
        self.fault_at = 0.0
        self.is_stopping = threading.Event()
        self._changed = threading.Condition()
        self._listener = socket.create_server((host, 0), backlog=1024)
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/"

    def __enter__(self) -> "RawFeed":
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            peer = Peer(self, connection, len(self.peers) + 1)
            self.connections.append(connection)
            with self._changed:
                self.peers.append(peer)
                self._changed.notify_all()
            behaviour = self.behaviours[min(peer.number, len(self.behaviours)) - 1]
            threading.Thread(target=self._run, args=(behaviour, peer), daemon=True).start()

    def _run(self, behaviour: Behaviour, peer: Peer) -> None:
        try:
            behaviour(peer)
        except Gone:
            pass
        except BaseException as error:  # noqa: BLE001: the test must learn of it
            self.failures.append(error)
        finally:
            peer.socket.close()
            with contextlib.suppress(ValueError):
                self.connections.remove(peer.socket)

    def wait_for_peer(self, number: int, seconds: float = 30) -> Peer:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.peers) >= number, seconds), (
                f"no connection {number}"
            )
            return self.peers[number - 1]

    def stop(self) -> None:
        self.is_stopping.set()
        # Closing alone would not end a blocked accept.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        assert not self.failures, self.failures
