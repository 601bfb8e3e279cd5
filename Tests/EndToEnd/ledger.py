"""What was seen of the history and of the counters, and what of it a killed exporter must bring back."""

import dataclasses
import time

from exposition import Exposition

Point = tuple[str, int]


@dataclasses.dataclass
class Findings:
    """What was wrong after a restart."""

    lost: list[Point] = dataclasses.field(default_factory=list)
    changed: list[Point] = dataclasses.field(default_factory=list)
    doubled: list[Point] = dataclasses.field(default_factory=list)
    #: Counters of changes that went on from a value that may be behind the one seen last.
    counters: list[str] = dataclasses.field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.lost or self.changed or self.doubled or self.counters)


class Ledger:
    """Points and counters, each with the time at which it was first seen.

    A point was kept before it was seen, so one that was seen a second before the end is at least that old.
    """

    #: Seconds; what the exporter promises.
    PROMISE = 1.0

    def __init__(self, capacity: int):
        self.capacity = capacity
        #: Points seen in all.
        self.count = 0
        #: Those that had to come back after a restart and did, in all.
        self.kept = 0
        #: Counters that had risen before a kill and began anew after it, in all.
        self.resets = 0
        self._points: dict[Point, tuple[float, float]] = {}
        self._newest = -1
        self._counters: dict[str, float] = {}

    def see(self, points: list[dict]) -> None:
        now = time.monotonic()
        for point in points:
            key = point["city"], point["time_ms"]
            value, seen_at = self._points.get(key, (None, now))
            if value is None:
                self.count += 1
            if value != point["aqi"]:
                # Two readings in one millisecond are one point, the later one; a look may fall between them.
                assert now - seen_at < self.PROMISE, f"a point has another value than {now - seen_at:.1f} s ago: {key}"
                self._points[key] = point["aqi"], now
            self._newest = max(self._newest, point["time_ms"])

    @property
    def since(self) -> int:
        """For the next question, so that only new points come, and those that were so new that they may have changed."""
        return max(0, self._newest - 100)

    def see_counters(self, page: Exposition) -> None:
        for labels, value in page.samples("airquality_category_changes_total"):
            name = f"{labels['city']} {labels['direction']}"
            assert value >= self._counters.get(name, 0), f"a counter went backwards in a running process: {labels}"
            self._counters[name] = value

    def check(self, points: list[dict], page: Exposition, ended_at: float) -> Findings:
        """Compares what a restarted exporter shows with what was seen; goes on from there."""
        findings = Findings()
        deadline = ended_at - self.PROMISE
        restored: dict[Point, float] = {}
        oldest: dict[str, int] = {}
        counts: dict[str, int] = {}
        for point in points:
            key = point["city"], point["time_ms"]
            if key in restored:
                findings.doubled.append(key)
            restored[key] = point["aqi"]
            oldest.setdefault(key[0], key[1])
            counts[key[0]] = counts.get(key[0], 0) + 1
        for key, (value, seen_at) in self._points.items():
            if key in restored:
                self.kept += 1
                if restored[key] != value and seen_at <= deadline:
                    findings.changed.append(key)
            elif seen_at <= deadline:
                # A full history has let its oldest points go.
                if counts.get(key[0], 0) < self.capacity or key[1] >= oldest[key[0]]:
                    findings.lost.append(key)
        now = time.monotonic()
        self._points = {key: (value, self._points.get(key, (0, now))[1]) for key, value in restored.items()}
        self._newest = max((key[1] for key in restored), default=-1)
        self._check_counters(page, findings)
        return findings

    def _check_counters(self, page: Exposition, findings: Findings) -> None:
        """After a kill a counter begins anew, so that Prometheus counts nothing twice."""
        # A message changes a city's category once at most.
        messages = sum(value for _, value in page.samples("airquality_exporter_feed_messages_total"))
        values = {
            f"{labels['city']} {labels['direction']}": value
            for labels, value in page.samples("airquality_category_changes_total")
        }
        for name, value in values.items():
            before = self._counters.get(name, 0)
            if value > messages:
                findings.counters.append(f"{name}: {value} after {before}, with {messages} messages since")
            elif before > 0:
                self.resets += 1
        self._counters = values
