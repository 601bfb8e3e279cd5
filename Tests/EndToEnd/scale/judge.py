"""Every stored sample, held against what was sent."""

import bisect
import dataclasses
import itertools

from scale import feed
from scale.deployment import REPLICAS, SHARDS, Deployment
from support.shards import shard


@dataclasses.dataclass
class Window:
    """A fault, from the kill to the start of what was killed."""

    what: str
    killed: float
    started: float


@dataclasses.dataclass
class Verdict:
    interval: int
    samples: int = 0
    #: Series of one city at most, and cities without any.
    series_a_city: int = 0
    cities_missing: int = 0
    #: Samples whose value was not that of a message sent before, with the first few.
    never_sent: int = 0
    examples: list[str] = dataclasses.field(default_factory=list)
    #: The longest time from one sample of a city to the next, by what was read: each database, and both.
    gaps: dict[str, float] = dataclasses.field(default_factory=dict)
    #: In which fault the longest of both was.
    gap_in: str = ""
    #: That of the control, of the cities of its shard.
    control_gap: float = 0
    #: How long after a city's newer value was sent an older one was still stored.
    oldest: float = 0
    #: What the counters of changes of category grew from the first sample to the last, divided by the truth between the
    #: two, by database; and increase() over the same time, divided by the truth from the sample before: VictoriaMetrics
    #: counts from that one.
    growth: dict[str, float] = dataclasses.field(default_factory=dict)
    increase: dict[str, float] = dataclasses.field(default_factory=dict)
    changes: int = 0
    #: In how many messages of the feed those changes came.
    messages: int = 0
    #: The least and the most that count(airquality_index), and the sum of what exporters say they know, ever were.
    counted: tuple[float, float] = (0, 0)
    known: tuple[float, float] = (0, 0)
    #: Which shards nobody knew, when, with the first few.
    unknown: list[str] = dataclasses.field(default_factory=list)

    def broken(self, cities: int) -> list[str]:
        """The promises that were not kept.

        At either end of the time it is open whether a scrape found the message that came while it waited for its turn. So
        the changes of two messages, and 2 % of the rest, are the tolerance of the counters' growth and of increase().
        """
        most = 2 * self.interval
        tolerance = 0.02 + 2 / self.messages
        found = []
        if self.series_a_city != 1:
            found.append(f"overlap: {self.series_a_city} series of a city")
        if self.cities_missing or self.counted != (cities, cities) or self.known != (cities, cities):
            unknown = f"; {'; '.join(self.unknown[:5])}" if self.unknown else ""
            found.append(
                f"union: {self.cities_missing} cities missing, counted {self.counted}, known {self.known}{unknown}")
        if self.gaps["both"] > most:
            found.append(f"gap of {self.gaps['both']:.1f} s, allowed {most} s, in: {self.gap_in}")
        if self.never_sent:
            found.append(f"{self.never_sent} samples that were never sent: {'; '.join(self.examples)}")
        if not all(abs(ratio - 1) <= tolerance for ratio in self.growth.values()):
            found.append(f"counters of changes grew {self.growth} times the truth")
        if not all(abs(ratio - 1) <= tolerance for ratio in self.increase.values()):
            found.append(f"increase() of changes is {self.increase} times the truth")
        if self.control_gap <= most:
            found.append(f"the control's gap of {self.control_gap:.1f} s was not found")
        return found


def longest_gap(times: list[float], begin: float, end: float, without: Window | None) -> tuple[float, float]:
    """The longest time between neighbours, and when it began; what touches the window is left out."""
    inside = [time for time in times if begin <= time <= end]
    longest, at = 0.0, begin
    for one, two in itertools.pairwise([begin, *inside, end]):
        if without and one < without.started and two > without.killed:
            continue
        if two - one > longest:
            longest, at = two - one, one
    return longest, at


def changes_sent(city: int, sent: list[float], begin: float, end: float) -> int:
    """Changes of the city's category in the messages of that time."""
    first, last = bisect.bisect_right(sent, begin) - 1, bisect.bisect_right(sent, end) - 1
    held = None
    count = 0
    for step in range(max(0, next((s for s in range(first, -1, -1) if feed.is_present(city, s)), 0)), last + 1):
        if feed.is_present(city, step):
            category = feed.category(feed.level(city, step))
            count += step > first and held is not None and category != held
            held = category
    return count


def grown(points: list[tuple[float, float]]) -> float:
    """What a counter grew from its first sample to its last; where it falls, it began at 0 again."""
    values = [value for _, value in points]
    return sum(two - one if two >= one else two for one, two in itertools.pairwise(values))


class Judge:
    def __init__(self, deployment: Deployment, windows: list[Window], control: Window, control_shard: int):
        self.deployment, self.windows = deployment, windows
        self.control, self.control_shard = control, control_shard
        self.sent = feed.read_log(deployment.log)

    def verdict(self, begin: float, before_control: float, end: float) -> Verdict:
        """- begin, end: of the time in which gaps are looked for; before_control: where increase() ends."""
        deployment = self.deployment
        verdict = Verdict(deployment.scrape_interval)
        times: list[dict[str, list[float]]] = []
        for replica in REPLICAS:
            found: dict[str, list[float]] = {}
            for labels, points in deployment.samples(replica, 'airquality_index{job="air-quality-exporter"}'):
                city = labels["city"]
                if city in found:
                    verdict.series_a_city = max(verdict.series_a_city, 2)
                found.setdefault(city, []).extend(time for time, _ in points)
                self._hold_against_feed(int(city.removeprefix("City ")), points, verdict)
            times.append(found)
        names = [feed.name(city) for city in range(deployment.cities)]
        verdict.series_a_city = max(verdict.series_a_city, 1)
        verdict.cities_missing = sum(name not in found for found in times for name in names)
        both = {name: sorted(itertools.chain(*(found.get(name, []) for found in times))) for name in names}
        for what, found in (*zip(REPLICAS, times), ("both", both)):
            verdict.gaps[what] = 0
            for name in names:
                is_control = shard(name, SHARDS) == self.control_shard
                gap, at = longest_gap(found.get(name, []), begin, end, self.control if is_control else None)
                if gap > verdict.gaps[what]:
                    verdict.gaps[what] = gap
                    if what == "both":
                        verdict.gap_in = self._fault_at(at, at + gap)
        of_control = [name for name in names if shard(name, SHARDS) == self.control_shard]
        verdict.control_gap = min(
            longest_gap(both[name], self.control.killed - 2 * verdict.interval, end, None)[0] for name in of_control)
        for replica in REPLICAS:
            self._compare_changes(replica, begin, before_control, verdict)
        verdict.counted = self._extremes('count(airquality_index{job="air-quality-exporter"})', begin, before_control)
        verdict.known = self._extremes("sum(max by (shard) (airquality_exporter_cities))", begin, before_control)
        verdict.unknown = self._unknown_shards(begin, before_control)
        return verdict

    def _hold_against_feed(self, city: int, points: list[tuple[float, float]], verdict: Verdict) -> None:
        sent, slack = self.sent, 2 * self.deployment.scrape_interval
        present = [step for step in range(len(sent)) if feed.is_present(city, step)]
        was_sent: dict[float, bool] = {}
        verdict.samples += len(points)
        for time, value in points:
            step = feed.step_of(value)
            if value not in was_sent:
                place = bisect.bisect_left(present, step)
                was_sent[value] = present[place : place + 1] == [step] and value == feed.value(city, step)
            # A scrape's time is when it was due. On a busy machine it begins up to an interval later, and it finds what comes
            # while it lasts.
            if not was_sent[value] or sent[step] > time + slack:
                verdict.never_sent += 1
                if len(verdict.examples) < 3:
                    verdict.examples.append(f"{feed.name(city)} {value} at {time:.3f}")
                continue
            newer = bisect.bisect_right(present, step)
            if newer < len(present):
                verdict.oldest = max(verdict.oldest, time - sent[present[newer]])

    def _compare_changes(self, replica: str, begin: float, end: float, verdict: Verdict) -> None:
        """Of each pair the counter that grew more is the one that was there all the time."""
        counters: dict[str, dict[str, list]] = {}
        before: dict[tuple[str, str], float] = {}
        for labels, points in self.deployment.samples(replica, "airquality_category_changes_total"):
            inside = [(time, value) for time, value in points if begin <= time <= end]
            counters.setdefault(labels["city"], {}).setdefault(labels["replica"], []).append(inside)
            before[labels["city"], labels["replica"]] = max((time for time, _ in points if time < begin), default=begin)
        truth, truth_from_before, growth = 0, 0, 0.0
        for name, pair in counters.items():
            source, best = max(pair.items(), key=lambda item: sum(map(grown, item[1])))
            if best[0]:
                city, first, last = int(name.removeprefix("City ")), best[0][0][0], best[0][-1][0]
                growth += sum(map(grown, best))
                truth += changes_sent(city, self.sent, first, last)
                truth_from_before += changes_sent(city, self.sent, before[name, source], last)
        verdict.changes = truth
        verdict.messages = sum(begin <= time <= end for time in self.sent)
        verdict.growth[replica] = growth / truth
        query = f"sum(max by (city, direction) (increase(airquality_category_changes_total[{end - begin:.0f}s])))"
        verdict.increase[replica] = self.deployment.number(replica, query, time=end) / truth_from_before

    def _fault_at(self, begin: float, end: float) -> str:
        hit = [window.what for window in self.windows if window.killed < end and begin < window.started + 30]
        return ", ".join(hit) or "no fault"

    def _unknown_shards(self, begin: float, end: float) -> list[str]:
        found = []
        step = self.deployment.scrape_interval
        for replica in REPLICAS:
            series = self.deployment.query(
                replica, "max by (shard) (airquality_exporter_cities)", start=begin, end=end, step=f"{step}s")
            seen = {each["metric"]["shard"]: {float(time) for time, _ in each["values"]} for each in series}
            every = set().union(*seen.values())
            for index in map(str, range(SHARDS)):
                for time in sorted(every - seen.get(index, set())):
                    fault = self._fault_at(time - step, time)
                    found.append(f"shard {index} in {replica} after {time - begin:.0f} s, {time:.0f}, in: {fault}")
        return found

    def _extremes(self, expression: str, begin: float, end: float) -> tuple[float, float]:
        """The least and the most over the time of what one database or the other has. One that is killed has lost the
        seconds that it had only in memory, and told the agents that it had them."""
        step = self.deployment.scrape_interval
        values = [0.0] * (int((end - begin) / step) + 1)
        for replica in REPLICAS:
            for series in self.deployment.query(replica, expression, start=begin, end=end, step=f"{step}s"):
                for time, value in series["values"]:
                    place, rest = divmod(float(time) - begin + step / 2, step)
                    assert abs(rest - step / 2) < 0.01, f"{time} was not asked for"
                    values[int(place)] = max(values[int(place)], float(value))
        return min(values), max(values)
