"""Stories of hours and days, and the alerts that they cause.

promtool runs all of them; a real Prometheus and Alertmanager run those that have a `speed`."""

from collections.abc import Callable
from dataclasses import dataclass, field

from grafana.simulation import HOUR, Exporter, Readings, except_for, steady

DAY = 24 * 60
FOR_GOOD = 10_000


@dataclass
class Story:
    """What happens within the given minutes, and how often each alert begins to fire.

    Alerts are named without `AirQuality`, and with their severity if there are two; all of them are
    about the first exporter."""

    name: str
    minutes: int
    exporters: list[Exporter]
    alerts: dict[str, int] = field(default_factory=dict)
    # Minute → the alerts that fire then.
    firing: dict[int, str] = field(default_factory=dict)
    # A part of the description of an alert in the first of those minutes.
    says: str = ""
    # How many times faster a real Prometheus runs it; 0: not at all.
    speed: int = 0

    @property
    def interval(self) -> int:
        """Seconds between scrapes and evaluations: promtool allows 10,000 samples per query."""
        return 30 if self.minutes <= 200 else 120


def crashing(every: int, up: int, begin: int = 20, end: int = 50) -> Callable[[int], bool]:
    """Between two minutes, something runs only for the first `up` seconds of each turn."""
    return lambda second: not begin <= second / 60 < end or second % every < up


def after_a_while(second: int) -> bool:
    """Connects 20 seconds after each start of an exporter that crashes every two minutes."""
    return not 20 <= second / 60 < 50 or second % 120 >= 20


def one_stops(second: int) -> Readings:
    return {"Delhi": 150} if second >= 60 * 60 else {"Delhi": 150, "Pune": 80}


def every_second_one_a_heartbeat(second: int) -> Readings:
    return {"Delhi": 150, "Pune": 80} if second // 240 % 2 else {}


def empty_for_two_hours(second: int) -> Readings:
    return {} if HOUR <= second < 3 * HOUR else {"Delhi": 150, "Pune": 80}


def silent_for_an_hour(second: int) -> Readings | None:
    return None if HOUR <= second < 2 * HOUR else {"Delhi": 150}


def is_slow_turn(second: int) -> bool:
    """Always until noon, then once an hour."""
    return second < 12 * HOUR or second % HOUR == 0


def one_slows(second: int) -> Readings:
    return {"Delhi": 150, "Pune": 80} if is_slow_turn(second) else {"Delhi": 150}


def silent_from_the_second_hour(second: int) -> Readings | None:
    return None if second >= HOUR else {"Delhi": 150}


def another_format(second: int) -> Readings | str:
    return "not_an_array" if HOUR <= second < 2 * HOUR else {"Delhi": 150}


def to_severe_and_back(second: int) -> Readings:
    return {"Delhi": 320 + 100 * (1 - abs(second / HOUR % 6 - 3) / 1.5), "Pune": 40}


def on_the_boundary(second: int) -> Readings:
    return {"Delhi": 298 if second // 1200 % 2 else 303}


STORIES = [
    Story(
        "air that gets Severe every six hours",
        DAY,
        [Exporter(every=240, message=to_severe_and_back)],
        {"VeryPoor": 4, "Severe": 4},
        speed=480,
    ),
    Story("hourly data for a day", DAY, [Exporter(every=HOUR)], speed=480),
    Story("hourly data that takes up to two hours to come", DAY, [Exporter(every=2 * HOUR)]),
    Story(
        "hourly data with an idle time-out of a minute",
        DAY,
        [Exporter(every=HOUR, idle_timeout=60)],
    ),
    Story(
        "hourly data with a message for each city",
        200,
        [Exporter(every=9, message=lambda s: {f"City {s % HOUR}": 80} if s % HOUR < 108 else None)],
    ),
    Story(
        "a feed that is paused every other minute",
        150,
        [Exporter(every=5, is_paused=lambda s: s // 60 % 2 > 0)],
    ),
    Story(
        "a feed that is paused for an hour",
        150,
        [Exporter(is_paused=lambda s: HOUR <= s < 2 * HOUR)],
    ),
    Story(
        "heartbeats every second message",
        4 * 60,
        [Exporter(every=240, message=every_second_one_a_heartbeat)],
        speed=480,
    ),
    Story(
        "a station without a value",
        4 * 60,
        [Exporter(message=lambda _: {"Delhi": 150, "Agra": None})],
    ),
    Story(
        "a feed that is away for a minute",
        40,
        [Exporter(is_feed_up=except_for((20, 21)))],
        speed=40,
    ),
    Story(
        "a feed that is away for ten minutes",
        60,
        [Exporter(is_feed_up=except_for((20, 30)))],
        {"FeedDown/warning": 1},
        {25: "FeedDown/warning", 40: ""},
        says="a:10025 of the job air-quality-exporter is not connected to the feed ws://feed/",
        speed=40,
    ),
    Story(
        "a feed that is away for an hour",
        105,
        [Exporter(is_feed_up=except_for((20, 80)), is_scraped=lambda second: second % 600 >= 30)],
        {"FeedDown/warning": 1, "FeedDown/critical": 1},
        {30: "FeedDown/warning", 70: "FeedDown/warning FeedDown/critical", 90: ""},
        speed=40,
    ),
    Story(
        "a feed that each scrape wakes for ten seconds, and that is away for an hour",
        105,
        [
            Exporter(
                every=5,
                is_paused=lambda second: (second - 1) % 30 >= 10,
                is_feed_up=except_for((20, 80)),
            )
        ],
        {"FeedDown/warning": 1, "FeedDown/critical": 1},
        {15: "", 30: "FeedDown/warning", 70: "FeedDown/warning FeedDown/critical", 95: ""},
    ),
    Story(
        "an hourly feed that is away for five hours",
        16 * 60,
        [Exporter(every=HOUR, is_feed_up=except_for((130, 430)))],
        {"FeedDown/warning": 1, "FeedDown/critical": 1},
        {440: ""},
    ),
    Story(
        "a feed that crashes every two minutes",
        90,
        [Exporter(is_feed_up=crashing(every=120, up=100))],
        {"FeedUnstable": 1},
        {45: "FeedUnstable", 85: ""},
        says="times to the feed ws://feed/ within 15 minutes",
        speed=40,
    ),
    Story(
        "a feed that crashes every 210 seconds",
        105,
        [Exporter(is_feed_up=crashing(every=210, up=200, end=60))],
        {"FeedUnstable": 1},
        {55: "FeedUnstable", 100: ""},
        speed=40,
    ),
    Story(
        "a feed that crashes every four minutes",
        90,
        [Exporter(is_feed_up=crashing(every=240, up=230, end=80))],
    ),
    Story(
        "a feed that ends its connection after each hour's message",
        10 * 60,
        [Exporter(every=HOUR, is_feed_up=lambda second: second % HOUR < 3590)],
    ),
    Story(
        "a feed that falls silent for an hour",
        200,
        [Exporter(message=silent_for_an_hour)],
        {"FeedSilent": 1},
        {100: "FeedSilent", 190: ""},
        says="is connected to the feed ws://feed/, but no message has arrived",
    ),
    Story(
        "a feed that falls silent for good",
        14 * 60,
        [Exporter(message=silent_from_the_second_hour, behind=1800)],
        {"FeedSilent": 1},
        {60: "", 14 * 60: "FeedSilent"},
    ),
    Story(
        "a feed that slows down to a message an hour",
        DAY,
        [Exporter(message=lambda second: {"Delhi": 150} if is_slow_turn(second) else None)],
        {"FeedSilent": 1},
        {12 * 60 + 30: "FeedSilent", DAY - 60: ""},
    ),
    Story(
        "a feed that never sends anything, with an idle time-out of a minute",
        200,
        [Exporter(message=lambda _: None, idle_timeout=60)],
        {"FeedSilent": 1},
        {110: "", 190: "FeedSilent"},
    ),
    Story(
        "an exporter that is away for a minute",
        40,
        [Exporter(is_running=except_for((20, 21)))],
        speed=40,
    ),
    Story(
        "an exporter that is away for ten minutes",
        60,
        [Exporter(is_running=except_for((20, 30)))],
        {"ExporterDown": 1},
        {25: "ExporterDown", 40: ""},
        says="Prometheus cannot scrape a:10025",
        speed=40,
    ),
    Story(
        "an exporter that is away for 30 hours",
        32 * 60,
        [Exporter(is_running=except_for((60, 31 * 60)))],
        {"ExporterDown": 1},
        {30 * 60: "ExporterDown", 31 * 60 + 30: ""},
    ),
    Story(
        "an exporter that is away for an hour, of a feed with a message each ten minutes",
        5 * 60,
        [Exporter(every=600, is_running=except_for((120, 172)))],
        {"ExporterDown": 1},
    ),
    Story(
        "a new instance that reads the storage of one that was away for five hours",
        16 * 60,
        [
            Exporter(
                every=HOUR,
                is_running=except_for((370, FOR_GOOD)),
                is_target=except_for((370, FOR_GOOD)),
                has_storage=True,
            ),
            Exporter(
                instance="b:10025",
                every=HOUR,
                is_running=except_for((0, 702)),
                is_target=except_for((0, 370)),
                has_storage=True,
            ),
        ],
        {"ExporterDown": 1},
    ),
    Story(
        "an exporter that crashes every two minutes",
        90,
        [Exporter(is_running=crashing(every=120, up=100), is_feed_up=after_a_while)],
        {"ExporterRestarting": 1},
        {45: "ExporterRestarting", 85: ""},
        says="has restarted",
        speed=40,
    ),
    Story(
        "an exporter that crashes every 320 seconds",
        105,
        [Exporter(is_running=crashing(every=320, up=310, end=60))],
        {"ExporterRestarting": 1},
        {55: "ExporterRestarting", 100: ""},
        speed=40,
    ),
    Story(
        "an exporter that runs for half a minute of every five",
        200,
        [Exporter(is_running=crashing(every=300, up=30, begin=60, end=150))],
        {"ExporterDown": 1},
        {120: "ExporterDown", 170: ""},
    ),
    Story(
        "a new instance of a job that never comes up",
        120,
        [
            Exporter(is_target=except_for((60, FOR_GOOD))),
            Exporter(
                instance="b:10025",
                is_running=except_for((0, FOR_GOOD)),
                is_target=except_for((0, 60)),
            ),
        ],
        {"ExporterDown": 1},
        {100: "ExporterDown"},
        says="Prometheus cannot scrape b:10025",
    ),
    Story(
        "an exporter that is away for ten minutes, beside another target that is down",
        60,
        [
            Exporter(is_running=except_for((20, 30))),
            Exporter(instance="b:9100", is_running=except_for((0, FOR_GOOD))),
        ],
        {"ExporterDown": 2},
        {10: "", 25: "ExporterDown", 45: ""},
    ),
    Story(
        "another target that goes down after the exporter beside it was removed",
        180,
        [
            Exporter(is_target=except_for((60, FOR_GOOD))),
            Exporter(instance="b:9100", is_other=True, is_running=except_for((90, 100))),
            Exporter(instance="c:9100", is_other=True),
        ],
        {"ExporterMissing": 1},
        {95: "ExporterMissing"},
    ),
    Story(
        "a shard that is down, and later no target any more",
        120,
        [
            Exporter(shard=(0, 2), message=steady("", *"ABCDEFGHIJKLMNOPQRSTUVWXYZ")),
            Exporter(
                instance="b:10025",
                shard=(1, 2),
                is_running=except_for((20, 40)),
                is_target=except_for((60, 100)),
            ),
        ],
        {"ExporterDown": 1, "ShardMissing": 1},
        {35: "ExporterDown", 50: "", 75: "ShardMissing", 110: ""},
    ),
    Story(
        "the only job is removed",
        180,
        [Exporter(is_target=except_for((60, 150)))],
        {"ExporterMissing": 1},
        {70: "ExporterMissing", 160: ""},
        says="No target can be scraped as an air quality exporter: there is none, or it is down",
    ),
    Story(
        "an exporter that has never been up",
        60,
        [Exporter(is_running=except_for((0, FOR_GOOD)))],
        {"ExporterMissing": 1},
        {30: "ExporterMissing"},
        says="No target can be scraped as an air quality exporter: there is none, or it is down",
    ),
    Story("an exporter that is federated without up", 40, [Exporter(is_federated=True)]),
    Story(
        "one job of two is removed, while the other is down",
        180,
        [
            Exporter(job="prod", is_target=except_for((60, FOR_GOOD))),
            Exporter(job="staging", instance="b:10025", is_running=except_for((30, 100))),
        ],
        {"ExporterMissing": 1, "ExporterDown": 1},
        {70: "ExporterMissing ExporterDown", 110: "ExporterMissing", 130: ""},
        says="No target of the job prod can be scraped as an air quality exporter",
    ),
    Story(
        "two releases with one feed down",
        60,
        [
            Exporter(job="prod", is_feed_up=except_for((20, FOR_GOOD)), message=steady("Delhi")),
            Exporter(job="staging", instance="b:10025", message=steady("Delhi")),
        ],
        {"FeedDown/warning": 1, "FeedDown/critical": 1},
        {50: "FeedDown/warning FeedDown/critical"},
        says="a:10025 of the job prod is not connected",
        speed=40,
    ),
    Story(
        "one city of two that stops",
        12 * 60,
        [Exporter(every=240, message=one_stops)],
        # Until it expires.
        {"CityStale": 1},
        {100: "CityStale", 11 * 60: ""},
        says="the newest reading of Pune is",
        speed=480,
    ),
    Story(
        "one city of two that stops, of hourly data",
        20 * 60,
        [Exporter(every=HOUR, message=lambda second: one_stops(second - 5 * HOUR))],
        {"CityStale": 1},
        {530: "", 600: "CityStale"},
    ),
    Story(
        "one city of two that slows down to a reading an hour, each an hour old when it comes",
        DAY,
        [Exporter(message=one_slows, lag=HOUR)],
        {"CityStale": 1},
        {11 * 60: "", 12 * 60 + 30: "CityStale", DAY - 60: ""},
    ),
    Story(
        "nothing but [] for two hours",
        300,
        [Exporter(every=240, message=empty_for_two_hours)],
        {"CityStale": 2},
        {100: "CityStale", 250: ""},
        speed=480,
    ),
    Story(
        "nothing but [] from the start",
        200,
        [Exporter(message=lambda _: {}, is_scraped=lambda second: second % 6600 >= 30)],
        {"NoCities": 1},
        {110: "", 190: "NoCities"},
        says="gets messages, but for two hours no city has had a reading",
    ),
    Story(
        "a feed that changes its format",
        300,
        [Exporter(message=another_format)],
        {"ReadingsRejected": 1, "CityStale": 1},
        {110: "ReadingsRejected CityStale", 290: ""},
        says="not_an_array",
    ),
    Story(
        "a feed whose values are in another field",
        60,
        [Exporter(message=steady("Delhi", "Pune", index=None))],
        {"ReadingsRejected": 1},
        {40: "ReadingsRejected"},
        says="has rejected 100% of the data from the feed",
    ),
    Story(
        "more cities than the limit",
        120,
        [Exporter(message=lambda s: {"Delhi": 9} if s % 90 else "city_limit")],
        {"ReadingsRejected": 1},
        {60: "ReadingsRejected"},
        says="cities beyond --city.limit",
    ),
    Story(
        "a disk that is full for ten minutes",
        120,
        [
            Exporter(
                is_storage_full=lambda second: 1800 <= second < 2400,
                is_scraped=lambda second: second != 5400,
            )
        ],
        {"StorageFailing": 1},
        {45: "StorageFailing", 80: ""},
        says="serves from memory",
    ),
    Story(
        "an exporter that is away for 45 minutes, and whose storage is damaged when it returns",
        200,
        [
            Exporter(
                is_running=except_for((100, 145)),
                is_storage_full=lambda second: second == 145 * 60,
            )
        ],
        {"ExporterDown": 1, "StorageFailing": 1},
        {160: "StorageFailing", 195: ""},
    ),
    Story(
        "a federated exporter whose storage is damaged when it starts",
        90,
        [Exporter(is_federated=True, is_storage_full=lambda second: second == 0)],
        {"StorageFailing": 1},
        {20: "StorageFailing", 60: ""},
    ),
    Story(
        "a disk that was full long before an exporter could not be scraped for a while",
        200,
        [
            Exporter(
                is_storage_full=lambda second: second == 300,
                is_scraped=except_for((60, 160)),
            )
        ],
        {"StorageFailing": 1, "ExporterDown": 1},
        {20: "StorageFailing", 170: ""},
    ),
    Story(
        "a configuration with a mistake",
        120,
        [Exporter(is_configuration_bad=lambda s: 1800 <= s < 3600, is_scraped=lambda s: s != 2400)],
        {"ReloadFailed": 1},
        {45: "ReloadFailed", 70: ""},
        says="keeps the previous content of a file",
    ),
    Story(
        "a city on the boundary of Very Poor",
        6 * 60,
        [Exporter(message=on_the_boundary)],
        {"VeryPoor": 1},
        {300: "VeryPoor"},
        says="Delhi is in the category Very Poor",
    ),
    Story(
        "very poor air and a feed that is away for a day",
        26 * 60,
        [Exporter(is_feed_up=except_for((60, 25 * 60)), message=steady("Delhi", index=350))],
        {"VeryPoor": 2, "FeedDown/warning": 1, "FeedDown/critical": 1},
        {
            100: "VeryPoor FeedDown/warning FeedDown/critical",
            400: "FeedDown/warning FeedDown/critical",
        },
    ),
]
