"""Simulated exporters as Prometheus sees them, second by second."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

MINUTE, HOUR, DAY = 60, 3600, 86400
BOUNDS = [0, 51, 101, 201, 301, 401]
COUNTERS = [
    "connection_attempts",
    "connections",
    "messages",
    "readings",
    "messages_without_readings",
    "duplicates",
]
REASONS = {
    "rejected": [
        *("not_json", "not_an_array", "no_city", "no_value", "bad_value", "bad_time", "city_limit")
    ],
    "disconnects": ["lost", "refused", "idle", "paused", "requested"],
}
# Index of each city; `None`: the element has no value.
Readings = dict[str, float | None]
FEED = "airquality_exporter_feed_"
# The storage file of the exporters that have one: of each city the arrival, time and index.
STORED: dict[str, tuple[int, int, float]] = {}


def always(_: int) -> bool:
    return True


def except_for(*spans: tuple[float, float]) -> Callable[[int], bool]:
    """True except during these spans of minutes."""
    return lambda second: not any(begin * MINUTE <= second < end * MINUTE for begin, end in spans)


def steady(*cities: str, index: float | None = 150) -> Callable[[int], Readings]:
    return lambda _: dict.fromkeys(cities, index)


@dataclass
class Exporter:
    """A target with a feed. `message` returns readings, a reason of rejection, or `None` for no
    message. Two with the same instance are one exporter with two feeds."""

    job: str = "air-quality-exporter"
    instance: str = "a:10025"
    feed: str = "ws://feed/"
    is_running: Callable[[int], bool] = always
    is_target: Callable[[int], bool] = always
    # False while scrapes fail; those of a real Prometheus never do.
    is_scraped: Callable[[int], bool] = always
    # Only metrics named airquality_*, as in a Prometheus that federates these.
    is_federated: bool = False
    # Not an exporter, but another target of the same job.
    is_other: bool = False
    # Seconds by which its clock is behind, and by which the cities' own times lag further.
    behind: int = 0
    lag: int = 0
    # Seconds by which its clock is ahead at a time, and the time that the feed gives its readings.
    clock: Callable[[int], int] = lambda _: 0
    time_of: Callable[[int], int] | None = None
    is_feed_up: Callable[[int], bool] = always
    is_paused: Callable[[int], bool] = lambda _: False
    idle_timeout: int = 5 * MINUTE
    expire_after: int = 6 * HOUR
    every: int = 30
    message: Callable[[int], Readings | str | None] = steady("Delhi", "Pune")
    is_storage_full: Callable[[int], bool] = lambda _: False
    is_configuration_bad: Callable[[int], bool] = lambda _: False
    # The counts of its counters before the first scrape.
    counted_before: int = 0
    # Days until the feed's certificate runs out; `None`: it has none.
    certificate_days: float | None = None
    # Whether it begins with the cities of the previous one with storage.
    has_storage: bool = False

    started: int | None = field(default=None, init=False)

    def start(self, second: int) -> None:
        self.started, self.connected, self.last_message, self.heard = second, False, None, second
        self.redial = second
        before = self.counted_before
        self.counts = dict.fromkeys(COUNTERS, before)
        self.reasons = {name: dict.fromkeys(reasons, before) for name, reasons in REASONS.items()}
        self.cities: dict[str, tuple[int, int, float]] = STORED if self.has_storage else {}
        self.expired: dict[str, int] = {}
        self.storage_errors = before

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
        for city, (arrival, when, _) in list(self.cities.items()):
            if second - arrival >= self.expire_after:
                del self.cities[city]
                self.expired[city] = when

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
        self.heard = second
        self.last_message = second + self.clock(second)
        if isinstance(content, str):
            self.reasons["rejected"][content] += 1
            return
        self.counts["messages_without_readings"] += not content
        for city, index in content.items():
            if not city:
                self.reasons["rejected"]["no_city"] += 1
            elif index is None:
                self.reasons["rejected"]["no_value"] += 1
            else:
                self.counts["readings"] += 1
                self.keep(second, city, index)

    def keep(self, second: int, city: str, index: float) -> None:
        """A reading with a time of its own counts only if it is newer; another one that arrives
        before the city's newest gets that one's time."""
        when = self.time_of(second) if self.time_of else second + self.clock(second)
        _, newest, _ = self.cities.get(city, (0, self.expired.get(city, -DAY), 0))
        if when > newest or not self.time_of:
            self.cities[city] = (second, max(when, newest), index)

    def scrape(self, second: int) -> Iterator[tuple[str, dict[str, str], float]]:
        """The name, labels and value of every sample at this moment."""
        if not self.is_target(second):
            return
        is_up = self.started is not None and self.is_scraped(second)
        if not self.is_federated:
            yield "up", {}, int(is_up)
        if not is_up or self.is_other:
            return
        feed = {"feed": self.feed}
        if not self.is_federated:
            # An exporter that has counted something is older than what is scraped.
            started = self.started - DAY * bool(self.counted_before)
            yield "process_start_time_seconds", {}, started
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
        if self.connected and self.certificate_days is not None:
            expiry = self.certificate_days * DAY
            yield f"{FEED}certificate_expiry_timestamp_seconds", feed, expiry
        for category, name in ((5, "Very Poor"), (6, "Severe")):
            yield (
                "airquality_category_info",
                {"scale": "india", "category": str(category), "name": name},
                1,
            )
        for city, (_, newest, index) in self.cities.items():
            when = newest - self.behind - self.lag
            place = {"country": "", "latitude": "", "longitude": ""}
            yield "airquality_city_info", {"city": city, **feed, **place}, 1
            yield "airquality_category", {"city": city}, sum(index >= bound for bound in BOUNDS)
            yield "airquality_last_update_timestamp_seconds", {"city": city}, when


def scraped(
    exporters: list[Exporter], minutes: int, interval: int
) -> dict[tuple[tuple[str, str], ...], list[str]]:
    """Each series by its labels, `__name__` too, with a value per scrape: a number, `stale` where
    it ends, or `_` where there is none."""
    samples: dict[tuple[tuple[str, str], ...], list[str]] = {}
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
            # Service discovery adds labels that no rule may depend on.
            target = {"job": exporter.job, "instance": exporter.instance, "pod": "a-0"}
            for name, labels, value in exporter.scrape(second):
                series = {"__name__": name} | target | labels
                seen[tuple(series.items())] = f"{value:.10g}"
        for series in samples.keys() | seen.keys():
            values = samples.setdefault(series, ["_"] * (second // interval))
            was_there = bool(values) and values[-1] not in ("_", "stale")
            values.append(seen.get(series, "stale" if was_there else "_"))
    return samples


def input_series(exporters: list[Exporter], minutes: int, interval: int) -> list[dict[str, str]]:
    """The input of promtool."""
    samples = scraped(exporters, minutes, interval)
    return [
        {"series": series_name(dict(series)), "values": shortened(values)}
        for series, values in sorted(samples.items())
    ]


def series_name(labels: dict[str, str]) -> str:
    name = labels.pop("__name__")
    return name + "{" + ", ".join(f'{label}="{value}"' for label, value in labels.items()) + "}"


def shortened(values: list[str]) -> str:
    """`1 1 1` as `1x2`."""
    runs = ((value, len(list(same))) for value, same in itertools.groupby(values))
    # `x` counts the repetitions of a number, or the missing values.
    return " ".join(
        value if value == "stale" else f"{value}x{count - (value != '_')}" for value, count in runs
    )
