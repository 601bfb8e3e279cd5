"""A feed under continuous load."""

import contextlib
import itertools
import threading
from collections.abc import Callable

from websockets.exceptions import ConnectionClosed

from support.peers import WebSocketFeed


class Load(threading.Thread):
    """While entered, sends the message of each number from 0, with a pause in seconds before it."""

    def __init__(self, feed: WebSocketFeed, message: Callable[[int], object], pause: float):
        super().__init__()
        self._feed, self._message, self._pause = feed, message, pause
        self._is_over = threading.Event()
        #: While held, nothing is sent.
        self.rest = threading.Lock()

    def __enter__(self) -> "Load":
        self.start()
        return self

    def __exit__(self, *_) -> None:
        self._is_over.set()
        self.join()

    def run(self) -> None:
        for number in itertools.count():
            if self._is_over.wait(self._pause):
                return
            # The client may be killed meanwhile.
            with self.rest, contextlib.suppress(ConnectionClosed, OSError):
                self._feed.send(self._message(number))


def changing(cities: int) -> Callable[[int], list[dict]]:
    """Messages in which every city has another index, and often another category."""
    return lambda number: [
        {"city": f"City {city}", "aqi": (number * 37.25 + city) % 500} for city in range(cities)
    ]
