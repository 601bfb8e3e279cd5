"""Keeps the points and counters that were seen, and checks which of them a killed exporter
restores."""

import dataclasses
import time

from support import metrics
from support.exposition import Exposition

Point = tuple[str, int]


@dataclasses.dataclass
class Findings:
    """The errors that were found after a restart."""

    lost: list[Point] = dataclasses.field(default_factory=list)
    changed: list[Point] = dataclasses.field(default_factory=list)
    doubled: list[Point] = dataclasses.field(default_factory=list)
    #: Counters of changes that continued from a value that may be below the last one seen.
    counters: list[str] = dataclasses.field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.lost or self.changed or self.doubled or self.counters)


class Ledger:
    """Points and counters, each point with the time at which it was first seen.

    The promise is checked against what the exporter itself reports: all that was seen before the
    last write that it has reported must be restored. So a machine that is too busy to write twice a
    second breaks no promise.
    """

    def __init__(self, capacity: int):
        self.capacity = capacity
        #: The number of points seen.
        self.count = 0
        #: How often a point was restored by a restart.
        self.kept = 0
        #: How many points were lost but not promised, because no write was seen since.
        self.unwritten = 0
        #: How often a counter had risen before a kill and began again after it.
        self.resets = 0
        #: The last write that was scraped, epoch seconds.
        self.written_at = 0.0
        #: Each value, and when it was first seen, epoch seconds.
        self._points: dict[Point, tuple[float, float]] = {}
        self._newest: dict[str, int] = {}
        self._counters: dict[str, float] = {}

    def see(self, points: list[dict]) -> None:
        """Keeps points that the running exporter has shown."""
        now = time.time()
        for point in points:
            key = city, at = point["city"], point["time_ms"]
            value, _ = self._points.get(key, (None, now))
            if value is None:
                self.count += 1
            if value != point["aqi"]:
                # Two readings in one millisecond are one point, the later one; a request may come
                # between them.
                is_newest = at >= self._newest.get(city, at)
                assert value is None or is_newest, f"a point has another value than before: {key}"
                self._points[key] = point["aqi"], now
            self._newest[city] = max(self._newest.get(city, at), at)

    @property
    def since(self) -> int:
        """For the next request, to get only new points and those so new that they may change."""
        return max(0, max(self._newest.values(), default=0) - 100)

    def see_page(self, page: Exposition) -> None:
        """Keeps the last write and the counters of the running exporter's page."""
        for _, value in page.samples(metrics.LAST_WRITE):
            assert value >= self.written_at, "the last write is earlier than before"
            self.written_at = value
        for name, value in self._changes(page).items():
            assert value >= self._counters.get(name, 0), (
                f"a counter went backwards in a running process: {name}"
            )
            self._counters[name] = value

    @staticmethod
    def _changes(page: Exposition) -> dict[str, float]:
        return {
            f"{labels['city']} {labels['direction']}": value
            for labels, value in page.samples(metrics.CHANGES)
        }

    def check(self, points: list[dict], page: Exposition) -> Findings:
        """Compares what a restarted exporter shows with what was seen; continues from there."""
        findings = Findings()
        restored: dict[Point, float] = {}
        oldest: dict[str, int] = {}
        newest: dict[str, int] = {}
        counts: dict[str, int] = {}
        for point in points:
            key = city, at = point["city"], point["time_ms"]
            if key in restored:
                findings.doubled.append(key)
            restored[key] = point["aqi"]
            oldest.setdefault(city, at)
            newest[city] = at
            counts[city] = counts.get(city, 0) + 1
        for key, (value, seen_at) in self._points.items():
            is_written = seen_at <= self.written_at
            if key in restored:
                self.kept += 1
                if restored[key] != value and is_written:
                    findings.changed.append(key)
            # A full history has dropped its oldest points.
            elif counts.get(key[0], 0) < self.capacity or key[1] >= oldest[key[0]]:
                if is_written:
                    findings.lost.append(key)
                else:
                    self.unwritten += 1
        now = time.time()
        self._points = {
            key: (value, self._points.get(key, (value, now))[1]) for key, value in restored.items()
        }
        self._newest = newest
        self._check_counters(page, findings)
        return findings

    def _check_counters(self, page: Exposition, findings: Findings) -> None:
        """After a kill, a counter begins again, so that Prometheus counts nothing twice."""
        # A message changes a city's category at most once.
        messages = sum(value for _, value in page.samples(metrics.MESSAGES))
        values = self._changes(page)
        for name, value in values.items():
            before = self._counters.get(name, 0)
            if value > messages:
                findings.counters.append(
                    f"{name}: {value} after {before}, with {messages} messages since"
                )
            elif before > 0:
                self.resets += 1
        self._counters = values
