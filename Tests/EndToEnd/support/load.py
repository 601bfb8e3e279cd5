"""A feed that never rests."""

import contextlib
import json
import threading

from websockets.exceptions import ConnectionClosed

from support.peers import WebSocketFeed


class Load:
    """While entered, sends message after message in which every city has another index, and often
    another category."""

    def __init__(self, feed: WebSocketFeed, cities: int, pause: float):
        self._feed = feed
        self._names = [f"City {number}" for number in range(cities)]
        self._pause = pause
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._resting = threading.Lock()
        #: Messages sent.
        self.count = 0

    def __enter__(self) -> "Load":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._stop.set()
        self._thread.join()

    def rest(self) -> threading.Lock:
        """While entered, sends nothing."""
        return self._resting

    def _run(self) -> None:
        while not self._stop.wait(self._pause):
            self.count += 1
            elements = [
                {"city": name, "aqi": (self.count * 37.25 + number) % 500}
                for number, name in enumerate(self._names)
            ]
            with self._resting, contextlib.suppress(ConnectionClosed, OSError):
                # The client may be killed in the middle of it.
                self._feed.send(json.dumps(elements))
