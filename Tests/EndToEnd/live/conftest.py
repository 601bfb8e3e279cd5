"""`air-quality-feed poll` beside a local server that responds like a source, and its clients."""

import json
import threading

import pytest
from websockets.sync.client import connect

from live.sources import SourceServer
from support.waiting import wait_for


class Listener:
    """A client of the feed that keeps the elements it receives."""

    def __init__(self, url: str):
        self._context = connect(url)
        self._connection = self._context.__enter__()
        self.source = self._connection.response.headers.get("Air-Quality-Source")
        self.messages: list[list[dict]] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        for message in self._connection:
            self.messages.append(json.loads(message))

    @property
    def elements(self) -> list[dict]:
        return [element for message in list(self.messages) for element in message]

    def wait_for(self, condition, what: str, seconds: float = 60):
        return wait_for(lambda: condition(self.elements), what, seconds)

    def wait_for_city(self, city: str, seconds: float = 60) -> dict:
        def found(elements: list[dict]) -> list[dict]:
            return [element for element in elements if element["city"] == city]

        return self.wait_for(found, city, seconds)[0]

    def stop(self):
        self._context.__exit__(None, None, None)
        self._thread.join(10)


@pytest.fixture
def serve():
    """Starts sources; stops them after the test."""
    servers = []

    def serve(respond, context=None) -> SourceServer:
        servers.append(SourceServer(respond, context))
        return servers[-1]

    yield serve
    for server in servers:
        server.stop()


@pytest.fixture
def cities(tmp_path):
    """Writes a list of cities and returns the flag for it."""

    def cities(*rows: str) -> str:
        file = tmp_path / "cities.csv"
        file.write_text("city,latitude,longitude,id\n" + "".join(row + "\n" for row in rows))
        return f"--cities={file}"

    return cities


@pytest.fixture
def key_file(tmp_path):
    file = tmp_path / "key"
    file.write_text("a-very-secret-key\n")
    return f"--key-file={file}"


@pytest.fixture
def listen():
    """Connects to a feed; disconnects after the test."""
    listeners = []

    def listen(url: str) -> Listener:
        listeners.append(Listener(url))
        return listeners[-1]

    yield listen
    for listener in listeners:
        listener.stop()
