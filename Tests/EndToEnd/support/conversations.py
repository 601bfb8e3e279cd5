"""Plays a recorded conversation with a server: sends what the server sent, waits for what its
client had to send, refuses what comes too early, and closes as the server did."""

import base64
import json
import pathlib
import queue
import socket
import threading

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from support.peers import WebSocketFeed

FOLDER = pathlib.Path(__file__).parents[1] / "feed/conversations"


def frames(path: pathlib.Path) -> tuple[dict, list[dict]]:
    """The head and the frames of a recording, or of a file that `air-quality-feed record` wrote."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    if "server" in lines[0]:
        return lines[0], [line for line in lines[1:] if "control" not in line]
    names = {"message": "in", "out": "out"}
    return {}, [
        {"dir": names[name], "text": line[name], "at_ms": line["time_ms"] - lines[0]["time_ms"]}
        for line in lines for name in names if name in line
    ]


def shape(text: str | bytes):
    """What a server distinguishes texts by: the protocol's own words, not a token or a query."""
    try:
        value = json.loads(text)
    except ValueError:
        return text.split("\n")[0] if isinstance(text, str) else text
    if not isinstance(value, dict):
        return value
    kinds = [value.get(name) for name in ("type", "event", "event_type", "id")]
    return tuple(value), *kinds


class Gone(Exception):
    """The client has left."""


class Player:
    """A server that speaks as the recording says, `clock` times faster than recorded, and waits for
    each text of its client for `patience` seconds."""

    def __init__(
        self, name: str, clock: float = 50, ping: tuple[str, str] = ("", ""), repeat: int = 0,
        patience: float = 20,
    ):
        self.head, self.frames = frames(FOLDER / f"{name}.jsonl")
        self.clock = clock
        self.patience = patience
        self.ping, self.pong = ping
        self.repeat = repeat
        self.connections = 0
        #: Whether all pings have been answered.
        self.held = False
        self.faults: list[str] = []
        self.done, self.gone = threading.Event(), threading.Event()
        subprotocol = self.head.get("subprotocol")
        self._server = serve(
            self._serve, "127.0.0.1", 0, subprotocols=[subprotocol] if subprotocol else None,
            select_subprotocol=self._select if subprotocol or not self.head else None,
            process_request=self._check, ping_interval=None,
        )
        self.port = self._server.socket.getsockname()[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> "Player":
        return self

    def __exit__(self, *_) -> None:
        self._server.shutdown()

    def url(self, recipe: str) -> str:
        """The recipe's address at this server."""
        return f"ws://127.0.0.1:{self.port}/" + recipe.split("://")[1].split("/", 1)[1]

    @property
    def sent(self) -> list[str]:
        return [_content(frame) for frame in self.frames if frame["dir"] == "in"]

    def _select(self, connection, offered):
        if not self.head:
            # Without it, as `record` writes, the server took what its client offered.
            return offered[0] if offered else None
        return self.head["subprotocol"] if self.head["subprotocol"] in offered else None

    def _check(self, connection: ServerConnection, request):
        first = self.frames[0]
        if first.get("dir") == "refused":
            response = connection.respond(first["status"], first["body"])
            response.reason_phrase = first["reason"]
            return response
        if "Origin" in self.head.get("needs", "") and "Origin" not in request.headers:
            return connection.respond(403, "Access denied\n")
        return None

    def _serve(self, connection: ServerConnection) -> None:
        self.connections += 1
        inbox: queue.Queue = queue.Queue()

        def receive() -> None:
            try:
                for message in connection:
                    inbox.put(message)
            except ConnectionClosed:
                pass
            inbox.put(None)
            self.gone.set()

        threading.Thread(target=receive, daemon=True).start()
        try:
            self._play(connection, inbox)
        except (ConnectionClosed, Gone):
            pass

    def _play(self, connection: ServerConnection, inbox: queue.Queue) -> None:
        wanted = [shape(frame["text"]) for frame in self.frames if frame["dir"] == "out"]
        past = []
        last = 0
        for frame in self.frames:
            if frame["dir"] == "out":
                want = shape(frame["text"])
                while want not in past:
                    try:
                        past.append(shape(self._hear(inbox)))
                    except queue.Empty:
                        self.faults.append(f"no {want}, but {past}")
                        return connection.close(4408)
                past.remove(want)
            elif frame["dir"] == "in":
                self._wait(frame["at_ms"] - last)
                last = frame["at_ms"]
                while not inbox.empty():
                    past.append(shape(self._hear(inbox)))
                early = [each for each in past if each in wanted and not _may_repeat(each)]
                if early:
                    self.faults.append(f"too early: {early}")
                    return connection.close(4401)
                connection.send(_content(frame))
            elif frame["dir"] == "close":
                if frame.get("code") and frame.get("by") != "client":
                    self._wait(frame["at_ms"] - last)
                    self.done.set()
                    return _close(connection, frame["code"], frame["reason"])
        self.done.set()
        self._stay(connection, inbox)

    def _stay(self, connection: ServerConnection, inbox: queue.Queue) -> None:
        """Goes on with the server's pings, which must be answered, until the client leaves."""
        for _ in range(self.repeat):
            self._wait(25_000)
            while not inbox.empty():
                self._hear(inbox)
            connection.send(self.ping)
            try:
                answer = self._hear(inbox)
            except queue.Empty:
                answer = None
            if answer != self.pong:
                self.faults.append(f"a ping was answered with {answer}")
                return connection.close(3012)
        self.held = True
        self.gone.wait(60)

    def _hear(self, inbox: queue.Queue) -> str | bytes:
        message = inbox.get(timeout=self.patience)
        if message is None:
            raise Gone
        return message

    def _wait(self, milliseconds: float) -> None:
        threading.Event().wait(max(0, milliseconds) / 1000 / self.clock)


def _content(frame: dict) -> str | bytes:
    return frame["text"] if "text" in frame else base64.b64decode(frame["binary_base64"])


def _close(connection: ServerConnection, code: int, reason: str) -> None:
    """Closes as recorded; 1005 and 1006 stand for no status and no close frame."""
    if code == 1006:
        connection.socket.shutdown(socket.SHUT_RDWR)
    elif code == 1005:
        with connection.send_context():
            connection.protocol.send_close()
    else:
        connection.close(code, reason)


def _may_repeat(text) -> bool:
    """Whether a server takes the text at any time: a sign of life."""
    return isinstance(text, tuple) and "ping" in text


class Conversation(WebSocketFeed):
    """Waits for a text, then sends others; ends a connection whose client says something else."""

    def __init__(self, *steps: tuple[str | None, list], **options):
        self._steps = steps
        self.heard: list = []
        super().__init__(**options)

    def _serve(self, connection):
        for wanted, messages in self._steps:
            if wanted is not None:
                heard = connection.recv()
                self.heard.append(heard)
                if heard != wanted:
                    return connection.close(4400, "not now")
            for message in messages:
                connection.send(message if isinstance(message, str) else json.dumps(message))
        super()._serve(connection)
