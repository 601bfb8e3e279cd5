"""HTTP by hand: bytes that no client library would send, and the responses to them."""

import contextlib
import socket
import ssl
import struct

from support import libmicrohttpd
from support.responses import Response


def connect(
    port: int, seconds: float = 30, receive_buffer: int | None = None, source: str | None = None
) -> socket.socket:
    client = socket.socket()
    if source:
        client.bind((source, 0))
    if receive_buffer:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    client.settimeout(seconds)
    client.connect(("127.0.0.1", port))
    return client


def abort(client: socket.socket) -> None:
    """Closes with a reset, like a client that was killed."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def read_to_end(client: socket.socket) -> bytes:
    return b"".join(iter(lambda: client.recv(1 << 16), b""))


# After anything else, this ends an open header, and then the connection.
GOODBYE = b"\r\n\r\nGET /-/healthy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def exchange(
    port: int, request: bytes, seconds: float = 30, tls: ssl.SSLContext | None = None
) -> bytes:
    """All that is received until the server closes, which the request must make it do."""
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(connect(port, seconds))
        if tls:
            client = stack.enter_context(tls.wrap_socket(client, server_hostname="localhost"))
        received = b""
        # The server may have closed meanwhile, and have said why.
        with contextlib.suppress(OSError):
            client.sendall(request)
        try:
            while part := client.recv(1 << 16):
                received += part
        except (ConnectionResetError, BrokenPipeError):
            pass  # TLS writes as well while it reads.
        except ssl.SSLError as error:
            # Version 1 of the library closes in the middle of a large request without a
            # close_notify.
            if (
                not libmicrohttpd.REJECTS
                or error.reason != "UNEXPECTED_EOF_WHILE_READING"
                or len(request) < 10_000
            ):
                raise
        return received


def parse_responses(received: bytes, *methods: str) -> list[Response]:
    """The responses in what was received; an assertion fails for anything but well-formed
    responses. Methods beyond the given ones are GET."""
    responses = []
    while received:
        head, separator, rest = received.partition(b"\r\n\r\n")
        assert separator, f"a response without an end of its header: {received[:200]!r}"
        line, *fields = head.decode("latin-1").split("\r\n")
        version, status, _ = line.split(" ", 2)
        assert version in ("HTTP/1.1", "HTTP/1.0") and len(status) == 3, line
        headers = {}
        for field in fields:
            name, colon, value = field.partition(": ")
            assert colon and name.title() not in headers, field
            headers[name.title()] = value
        if status == "100":
            received = rest
            continue
        is_head = methods[len(responses) : len(responses) + 1] == ("HEAD",)
        length = 0 if is_head or status in ("204", "304") else int(headers["Content-Length"])
        assert len(rest) >= length, f"the content is cut off: {line}"
        responses.append(Response(int(status), headers, rest[:length]))
        received = rest[length:]
    return responses


def get(port: int, path: str, source: str) -> Response:
    """The response to a client at that address."""
    with connect(port, source=source) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        (response,) = parse_responses(read_to_end(client))
    return response
