"""Simulated exporters as Prometheus sees them, second by second."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

MINUTE, HOUR = 60, 3600
BOUNDS = [0, 51, 101, 201, 301, 401]
COUNTERS = [
    "connection_attempts",
    "connections",
    "messages",
    "readings",
    "messages_without_readings",
]
REASONS = {
    "rejected": ["not_json", "not_an_array", "no_city", "no_value", "bad_value", "city_limit"],
    "disconnects": ["lost", "refused", "idle", "paused", "requested"],
}
# Index of each city; `None`: the element has no value.
Readings = dict[str, float | None]
FEED = "airquality_exporter_feed_"
# The storage file of the exporters that have one.
STORED: dict[str, tuple[int, float]] = {}


def always(_: int) -> bool:
    return True


def except_for(*spans: tuple[float, float]) -> Callable[[int], bool]:
    """True except during these spans of minutes."""
    return lambda second: not any(begin * MINUTE <= second < end * MINUTE for begin, end in spans)


def steady(*cities: str, index: float | None = 150) -> Callable[[int], Readings]:
    return lambda _: dict.fromkeys(cities, index)


@dataclass
class Exporter:
    """A target. `message` returns readings, a reason of rejection, or `None` for no message."""

    job: str = "air-quality-exporter"
    instance: str = "a:10025"
    is_running: Callable[[int], bool] = always
    is_target: Callable[[int], bool] = always
    # False while scrapes fail; those of a real Prometheus never do.
    is_scraped: Callable[[int], bool] = always
    # Only metrics named airquality_*, as in a Prometheus that federates these.
    is_federated: bool = False
    # Not an exporter, but another target of the same job.
    is_other: bool = False
    # Index and count: the first letter of a city determines its shard.
    shard: tuple[int, int] | None = None
    # Seconds by which its clock is behind, and by which the cities' own times lag further.
    behind: int = 0
    lag: int = 0
    is_feed_up: Callable[[int], bool] = always
    is_paused: Callable[[int], bool] = lambda _: False
    idle_timeout: int = 5 * MINUTE
    every: int = 30
    message: Callable[[int], Readings | str | None] = steady("Delhi", "Pune")
    is_storage_full: Callable[[int], bool] = lambda _: False
    is_configuration_bad: Callable[[int], bool] = lambda _: False
    # Whether it begins with the cities of the previous one with storage.
    has_storage: bool = False

    started: int | None = field(default=None, init=False)

    def start(self, second: int) -> None:
        self.started, self.connected, self.last_message, self.heard = second, False, None, second
        self.redial = second
        self.counts = dict.fromkeys(COUNTERS + ["readings_skipped"] * bool(self.shard), 0)
        self.reasons = {name: dict.fromkeys(reasons, 0) for name, reasons in REASONS.items()}
        self.cities: dict[str, tuple[int, float]] = STORED if self.has_storage else {}
        self.storage_errors = 0

    def live(self, second: int) -> None:
        if not self.is_running(second):
            self.started = None
            return
        if self.started is None:
            self.start(second)
        self.connect(second)
        if self.connected and second % self.every == 0:
            self.receive(second, self.message(second))
        self.storage_errors += self.is_storage_full(second)
        for city in [city for city, (when, _) in self.cities.items() if second - when >= 6 * HOUR]:
            del self.cities[city]

    def connect(self, second: int) -> None:
        """Failed attempts are disconnects too; an idle connection is replaced 15 seconds later."""
        disconnects = self.reasons["disconnects"]
        if self.is_paused(second):
            disconnects["paused"] += self.connected
            self.connected = False
        elif not self.is_feed_up(second):
            if self.connected:
                disconnects["lost"] += 1
            elif second % 20 == 0 or self.is_paused(second - 1):
                self.counts["connection_attempts"] += 1
                disconnects["refused"] += 1
            self.connected = False
        elif not self.connected:
            if second >= self.redial:
                self.counts["connection_attempts"] += 1
                self.counts["connections"] += 1
                self.connected, self.heard = True, second
        elif second - self.heard >= self.idle_timeout:
            disconnects["idle"] += 1
            self.connected, self.redial = False, second + 15

    def receive(self, second: int, content: Readings | str | None) -> None:
        if content is None:
            return
        self.counts["messages"] += 1
        self.last_message = self.heard = second
        if isinstance(content, str):
            self.reasons["rejected"][content] += 1
            return
        self.counts["messages_without_readings"] += not content
        for city, index in content.items():
            if not city:
                self.reasons["rejected"]["no_city"] += 1
            elif self.shard and ord(city[0]) % self.shard[1] != self.shard[0]:
                self.counts["readings_skipped"] += 1
            elif index is None:
                self.reasons["rejected"]["no_value"] += 1
            else:
                self.counts["readings"] += 1
                self.cities[city] = (second, index)

    def scrape(self, second: int) -> Iterator[tuple[str, dict[str, str], float]]:
        """The name, labels and value of every sample at this moment."""
        if not self.is_target(second):
            return
        is_up = self.started is not None and self.is_scraped(second)
        if not self.is_federated:
            yield "up", {}, int(is_up)
        if not is_up or self.is_other:
            return
        if self.shard:
            yield "airquality_exporter_shard_index", {}, self.shard[0]
            yield "airquality_exporter_shards", {}, self.shard[1]
        feed = {"feed": "ws://feed/"}
        if not self.is_federated:
            yield "process_start_time_seconds", {}, self.started
        yield "airquality_exporter_build_info", {"version": "1"}, 1
        yield "airquality_exporter_storage_errors_total", {}, self.storage_errors
        yield "airquality_exporter_cities", {}, len(self.cities)
        is_good = not self.is_configuration_bad(second)
        yield "airquality_exporter_config_last_reload_successful", {}, int(is_good)
        yield f"{FEED}connected", feed, int(self.connected)
        yield f"{FEED}paused", feed, int(self.is_paused(second))
        for name, count in self.counts.items():
            yield f"{FEED}{name}_total", feed, count
        for name, counts in self.reasons.items():
            for reason, count in counts.items():
                yield f"{FEED}{name}_total", {**feed, "reason": reason}, count
        if self.last_message is not None:
            yield f"{FEED}last_message_timestamp_seconds", feed, self.last_message - self.behind
        for category, name in ((5, "Very Poor"), (6, "Severe")):
            yield (
                "airquality_category_info",
                {"scale": "india", "category": str(category), "name": name},
                1,
            )
        for city, (arrival, index) in self.cities.items():
            when = arrival - self.behind - self.lag
            yield "airquality_category", {"city": city}, sum(index >= bound for bound in BOUNDS)
            yield "airquality_last_update_timestamp_seconds", {"city": city}, when


def input_series(exporters: list[Exporter], minutes: int, interval: int) -> list[dict[str, str]]:
    """The input of promtool: each series with its values, one per scrape."""
    samples: dict[str, list[str]] = {}
    STORED.clear()
    for exporter in exporters:
        exporter.started = None
    for second in range(minutes * MINUTE + 1):
        for exporter in exporters:
            exporter.live(second)
        if second % interval:
            continue
        seen = {}
        for exporter in exporters:
            target = {"job": exporter.job, "instance": exporter.instance}
            for name, labels, value in exporter.scrape(second):
                seen[series_name(name, target | labels)] = f"{value:.10g}"
        for series in samples.keys() | seen.keys():
            values = samples.setdefault(series, ["_"] * (second // interval))
            was_there = bool(values) and values[-1] not in ("_", "stale")
            values.append(seen.get(series, "stale" if was_there else "_"))
    return [
        {"series": series, "values": shortened(values)}
        for series, values in sorted(samples.items())
    ]


def series_name(name: str, labels: dict[str, str]) -> str:
    return name + "{" + ", ".join(f'{label}="{value}"' for label, value in labels.items()) + "}"


def shortened(values: list[str]) -> str:
    """`1 1 1` as `1x2`."""
    runs = ((value, len(list(same))) for value, same in itertools.groupby(values))
    # `x` counts the repetitions of a number, or the missing values.
    return " ".join(
        value if value == "stale" else f"{value}x{count - (value != '_')}" for value, count in runs
    )
