"""Waiting for conditions, never for time alone."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def wait_for(
    condition: Callable[[], Found], what: str, seconds: float = 30, pause: float = 0.02
) -> Found:
    """The first true value of the condition; an exception in it counts as not yet."""
    deadline = time.monotonic() + seconds
    last: object = None
    while True:
        try:
            found = condition()
            if found:
                return found
            last = found
        except Exception as error:  # noqa: BLE001: whatever is not there yet
            last = error
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s for {what}; last: {last!r}")
        time.sleep(pause)
