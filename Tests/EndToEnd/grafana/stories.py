"""Stories of hours and days, and the alerts that they cause.

promtool runs all of them; a real Prometheus and Alertmanager run those that have a `speed`."""

from collections.abc import Callable
from dataclasses import dataclass, field

from grafana.simulation import HOUR, MINUTE, Exporter, Readings, except_for, steady

DAY = 24 * 60
FOR_GOOD = 10_000


@dataclass
class Story:
    """What happens within the given minutes, and how often each alert begins to fire.

    Alerts are named without `AirQuality`, and with their severity if there are two; all of them are
    about the job of the first exporter."""

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
        """Seconds between scrapes."""
        return 30 if self.minutes <= 200 else 120 if self.minutes <= 720 else 240

    @property
    def evaluation(self) -> int:
        """Seconds between promtool's evaluations, which take most of the time of these tests."""
        return max(60, self.interval)


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


def during(
    begin: float, end: float, content: Readings | str | None, *cities: str
) -> Callable[[int], Readings | str | None]:
    """This content between two minutes, and otherwise readings."""
    good = steady(*(cities or ("Delhi", "Pune")))
    return lambda second: content if begin * MINUTE <= second < end * MINUTE else good(second)


def same_reading(_: int) -> Readings:
    return {"Delhi": 150, "Pune": 80}


def one_by_one(second: int) -> Readings:
    """A message for each city of fifty."""
    return {f"City {second // 30 % 50}": 80}


def garbage_in_bursts(second: int) -> Readings | str | None:
    """Twelve minutes of messages each hour, which cannot be read in the fourth to sixth hour."""
    if second % HOUR >= 720:
        return None
    return "not_json" if 3 * HOUR <= second < 6 * HOUR else {"Delhi": 150, "Pune": 80}


def one_fast_that_stops(second: int) -> Readings:
    """Twenty cities once an hour each, with heartbeats, and one more city for five hours."""
    turn = second % HOUR // 30
    slow = {f"City {turn // 2}": 80} if turn % 2 and turn < 40 else {}
    return slow | ({"Delhi": 150} if second < 5 * HOUR else {})


def hourly_with_heartbeats(second: int) -> Readings:
    return {"Delhi": 150, "Pune": 80} if second % HOUR == 600 else {}


def to_severe_and_back(second: int) -> Readings:
    return {"Delhi": 320 + 100 * (1 - abs(second / HOUR % 6 - 3) / 1.5), "Pune": 40}


def on_the_boundary(second: int) -> Readings:
    return {"Delhi": 298 if second // 1200 % 2 else 303}


STORIES = [
    Story(
        "air that gets Severe every six hours",
        # Half an hour for the last notification.
        DAY + 30,
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
        {12 * 60 + 35: "FeedSilent", DAY - 60: ""},
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
        {"ExporterDown/critical": 1},
        {25: "ExporterDown/critical", 40: ""},
        says="Prometheus cannot scrape a:10025",
        speed=40,
    ),
    Story(
        "an exporter that is away for 30 hours",
        32 * 60,
        [Exporter(is_running=except_for((60, 31 * 60)))],
        {"ExporterDown/critical": 1},
        {30 * 60: "ExporterDown/critical", 31 * 60 + 30: ""},
    ),
    Story(
        "an exporter that is away for an hour, of a feed with a message each ten minutes",
        5 * 60,
        [Exporter(every=600, is_running=except_for((120, 172)))],
        {"ExporterDown/critical": 1},
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
        {"ExporterDown/critical": 1},
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
        "an exporter that restarts twice",
        40,
        [Exporter(is_running=except_for((20, 20.5), (24, 24.5)))],
    ),
    Story(
        "a new exporter that crashes every two minutes",
        60,
        [
            Exporter(is_running=crashing(every=120, up=100, begin=0)),
            Exporter(instance="b:10025", feed="other", message=steady("Agra")),
        ],
        {"ExporterRestarting": 1},
        {30: "ExporterRestarting"},
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
        {"ExporterDown/critical": 1},
        {120: "ExporterDown/critical", 170: ""},
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
        {"ExporterDown/critical": 1},
        {100: "ExporterDown/critical"},
        says="Prometheus cannot scrape b:10025",
    ),
    Story(
        "an exporter that is away for ten minutes, beside another target that is down",
        60,
        [
            Exporter(is_running=except_for((20, 30))),
            Exporter(instance="b:9100", is_running=except_for((0, FOR_GOOD))),
        ],
        {"ExporterDown/critical": 2},
        {10: "", 25: "ExporterDown/critical", 45: ""},
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
        {"ExporterMissing": 1, "ExporterDown/critical": 1},
        {70: "ExporterMissing ExporterDown/critical", 110: "ExporterMissing", 130: ""},
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
        # The city expires in the meantime.
        {"CityStale": 1},
        {100: "CityStale", 11 * 60: "CityStale"},
        says="Pune has had no reading from the feed ws://feed/ of the job air-quality-exporter",
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
        {"NoReadings": 1},
        {100: "NoReadings", 250: ""},
        says="none of them had a new reading of any city",
        speed=480,
    ),
    Story(
        "nothing but [] from the start",
        200,
        [Exporter(message=lambda _: {}, is_scraped=lambda second: second % 6600 >= 30)],
        {"NoReadings": 1},
        {70: "", 100: "NoReadings"},
    ),
    Story(
        "a feed that changes its format",
        300,
        [Exporter(message=another_format)],
        {"ReadingsRejected": 1},
        {75: "ReadingsRejected", 135: ""},
        says="not_an_array",
    ),
    Story(
        "a feed whose values are in another field",
        60,
        [Exporter(message=steady("Delhi", "Pune", index=None))],
        {"ReadingsRejected": 1},
        {40: "ReadingsRejected"},
        says="from the feed ws://feed/; the reasons are, most frequent first: no_value",
    ),
    Story(
        "garbage for half an hour",
        90,
        [Exporter(message=during(30, 60, "not_json"))],
        {"ReadingsRejected": 1},
        {45: "ReadingsRejected", 72: ""},
        speed=40,
    ),
    Story(
        "garbage each minute for half an hour",
        90,
        [Exporter(every=60, message=during(30, 60, "not_json"))],
        {"ReadingsRejected": 1},
        {45: "ReadingsRejected", 72: ""},
    ),
    Story(
        "garbage from a feed with a message each four minutes",
        6 * 60,
        [Exporter(every=240, message=during(150, 180, "not_json"))],
        {"ReadingsRejected": 1},
        {175: "ReadingsRejected", 320: ""},
    ),
    Story(
        "garbage from a feed that sends everything in the first minutes of each hour",
        12 * 60,
        [Exporter(every=10, message=garbage_in_bursts)],
        {"ReadingsRejected": 1},
        {195: "ReadingsRejected", 350: "ReadingsRejected", 400: ""},
    ),
    Story(
        "one message of twenty that cannot be read",
        120,
        [Exporter(message=lambda s: "not_json" if s % 630 == 0 else {"Delhi": 150})],
    ),
    Story(
        "a feed whose clock is ten minutes ahead for half an hour",
        90,
        [Exporter(message=during(30, 60, "bad_time"))],
        {"ReadingsRejected": 1},
        {45: "ReadingsRejected", 72: ""},
        speed=40,
    ),
    Story(
        "values that are all null for half an hour",
        90,
        [Exporter(message=during(30, 60, {"Delhi": None, "Pune": None}))],
        {"ReadingsRejected": 1},
        {50: "ReadingsRejected", 72: ""},
        speed=40,
    ),
    Story(
        "a snapshot and updates that are not read",
        105,
        [Exporter(message=lambda second: {} if second else {"Delhi": 150, "Pune": 80})],
        {"NoReadings": 1},
        {70: "", 90: "NoReadings"},
        says="none of them had a new reading of any city",
        speed=40,
    ),
    Story(
        "a snapshot, and updates that are not read for a day",
        DAY,
        [Exporter(message=lambda second: {} if second else {"Delhi": 150, "Pune": 80})],
        {"NoReadings": 1},
        {90: "NoReadings", DAY: "NoReadings"},
    ),
    Story(
        "a feed that sends the same old reading for a day",
        DAY,
        [Exporter(message=same_reading, time_of=lambda s: min(s // HOUR, 8) * HOUR)],
        {"NoReadings": 1},
        {8 * 60: "", 14 * 60: "NoReadings", DAY: "NoReadings"},
    ),
    Story(
        "hourly data with heartbeats, and an exporter that restarts",
        DAY,
        [Exporter(message=hourly_with_heartbeats, is_running=except_for((735, 736)))],
    ),
    Story(
        "hourly data that is two hours old when it comes, with heartbeats",
        10 * 60,
        [
            Exporter(
                message=lambda s: {"Delhi": 150} if s % 60 == 0 else {},
                time_of=lambda s: s // HOUR * HOUR - 2 * HOUR,
            )
        ],
    ),
    Story(
        "one fast city that stops, among cities with hourly data",
        9 * 60,
        [Exporter(message=one_fast_that_stops)],
        {"CityStale": 1},
        {5 * 60: "", 8 * 60: "CityStale"},
    ),
    Story(
        "two exporters in a job, of which one has lost its feed for good, and a city of the other",
        90,
        [
            Exporter(feed="x", is_feed_up=except_for((20, FOR_GOOD)), message=steady("Delhi")),
            Exporter(
                instance="b:10025",
                feed="y",
                message=lambda s: {"Delhi": 9} if s >= 30 * MINUTE else {"Delhi": 9, "Pune": 9},
            ),
        ],
        {"FeedDown/warning": 1, "FeedDown/critical": 1, "CityStale": 1},
        {15: "", 85: "FeedDown/warning FeedDown/critical CityStale"},
        says="Pune has had no reading from the feed y of the job air-quality-exporter",
        speed=40,
    ),
    Story(
        "two exporters in a job, each with a Delhi, of which one stops",
        180,
        [
            Exporter(feed="x", message=during(60, 180, {"Agra": 80}, "Agra", "Delhi")),
            Exporter(instance="b:10025", feed="y", message=steady("Delhi", "Pune")),
        ],
        {"CityStale": 1},
        {100: "CityStale"},
        says="Delhi has had no reading from the feed x of the job",
    ),
    Story(
        "an exporter with two feeds, of which one is down, and a city of the other stops",
        180,
        [
            Exporter(feed="x", is_feed_up=except_for((20, FOR_GOOD)), message=steady("Agra")),
            Exporter(feed="y", message=during(60, 180, {"Delhi": 80})),
        ],
        {"FeedDown/warning": 1, "FeedDown/critical": 1, "CityStale": 1},
        {
            50: "FeedDown/warning FeedDown/critical",
            120: "FeedDown/warning FeedDown/critical CityStale",
        },
    ),
    Story(
        "one of two replicas is gone",
        60,
        [
            Exporter(is_running=except_for((20, 50))),
            Exporter(instance="b:10025"),
        ],
        {"ExporterDown/warning": 1},
        {30: "ExporterDown/warning", 58: ""},
        says="Another exporter of the job is connected to the same feeds",
        speed=40,
    ),
    Story(
        "one of two replicas is gone, and the other one has no feed",
        60,
        [
            Exporter(is_running=except_for((20, 50))),
            Exporter(instance="b:10025", is_feed_up=except_for((10, 50))),
        ],
        {"ExporterDown/critical": 1, "FeedDown/warning": 1, "FeedDown/critical": 1},
    ),
    Story(
        "two replicas, and then none",
        100,
        [
            Exporter(is_running=except_for((20, 80))),
            Exporter(instance="b:10025", is_running=except_for((40, 70))),
        ],
        {"ExporterDown/warning": 2, "ExporterDown/critical": 2},
        {30: "ExporterDown/warning", 95: ""},
    ),
    Story(
        "one of two exporters of a job with different feeds is down",
        60,
        [
            Exporter(is_running=except_for((20, 50))),
            Exporter(instance="b:10025", feed="other", message=steady("Agra")),
        ],
        {"ExporterDown/critical": 1},
        {30: "ExporterDown/critical", 58: ""},
    ),
    Story(
        "one of two replicas cannot reach the feed",
        90,
        [
            Exporter(is_feed_up=except_for((20, 60))),
            Exporter(instance="b:10025"),
        ],
        {"FeedDown/warning": 1},
        {50: "FeedDown/warning", 75: ""},
    ),
    Story(
        "a city of two replicas that stops, while one of them restarts without it",
        5 * 60,
        [
            Exporter(message=during(60, 300, {"Delhi": 80}), is_running=except_for((150, 155))),
            Exporter(instance="b:10025", message=during(60, 300, {"Delhi": 80})),
        ],
        {"CityStale": 1, "ExporterDown/warning": 1},
        {100: "CityStale", 290: "CityStale"},
    ),
    Story(
        "a city that expires while it is stale",
        6 * 60,
        [Exporter(message=during(60, 240, {"Delhi": 80}), expire_after=HOUR)],
        {"CityStale": 1},
        {100: "CityStale", 235: "CityStale", 320: ""},
    ),
    Story(
        "a city that never comes back",
        32 * 60,
        [Exporter(every=120, message=during(60, FOR_GOOD, {"Delhi": 80}))],
        {"CityStale": 1},
        {100: "CityStale", 24 * 60: "CityStale", 28 * 60: "", 32 * 60: ""},
    ),
    Story(
        "a city that never comes back and never expires",
        32 * 60,
        [
            Exporter(
                every=120, message=during(60, FOR_GOOD, {"Delhi": 80}), expire_after=1000 * HOUR
            )
        ],
        {"CityStale": 1},
        {100: "CityStale", 24 * 60: "CityStale", 28 * 60: "", 32 * 60: ""},
    ),
    Story(
        "a stale city whose feed goes down, and whose exporter restarts",
        9 * 60,
        [
            Exporter(
                message=during(60, 420, {"Delhi": 80}),
                is_feed_up=except_for((120, 200)),
                is_running=except_for((300, 306)),
            )
        ],
        {"CityStale": 1, "FeedDown/warning": 1, "FeedDown/critical": 1, "ExporterDown/critical": 1},
        {110: "CityStale", 290: "CityStale", 410: "CityStale", 530: ""},
    ),
    Story(
        "a feed that is away for an hour, and then sends its cities one after the other",
        6 * 60,
        [Exporter(message=one_by_one, is_feed_up=except_for((120, 180)))],
        {"FeedDown/warning": 1, "FeedDown/critical": 1},
        {240: ""},
    ),
    Story(
        "a feed that breaks for a minute of every seven",
        180,
        [Exporter(is_feed_up=lambda second: second % 420 < 360)],
    ),
    Story(
        "an exporter whose clock is put back by an hour",
        6 * 60,
        [Exporter(clock=lambda second: 0 if second < 2 * HOUR else -HOUR)],
    ),
    Story(
        "an exporter whose clock is an hour ahead for a while",
        6 * 60,
        [Exporter(clock=lambda second: HOUR if HOUR <= second < 2 * HOUR else 0)],
    ),
    Story(
        "an exporter that is new to the database, with everything counted before",
        180,
        [
            Exporter(is_target=except_for((0, 60)), counted_before=500),
            Exporter(instance="b:10025", feed="other", message=steady("Agra")),
        ],
    ),
    Story(
        "a certificate that runs out in ten days",
        90,
        [Exporter(certificate_days=10, is_feed_up=except_for((40, 41)))],
        {"FeedCertificateExpiring": 1},
        {30: "FeedCertificateExpiring", 90: "FeedCertificateExpiring"},
        says="runs out in 9d 23h",
    ),
    Story("a certificate that runs out in three weeks", 60, [Exporter(certificate_days=21)]),
    Story(
        "more cities than the limit",
        120,
        [Exporter(message=lambda s: {"Delhi": 9} if s % 90 else "city_limit")],
        {"ReadingsRejected": 1},
        {60: "ReadingsRejected"},
        says="city_limit",
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
        {"ExporterDown/critical": 1, "StorageFailing": 1},
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
        {"StorageFailing": 1, "ExporterDown/critical": 1},
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
