"""The deployment under faults, one after the other, and the verdict on what it stored."""

import pathlib
import sys
import time

from scale.deployment import SHARDS, Deployment
from scale.judge import Judge, Verdict, Window
from support.waiting import wait_for

#: What is killed, with what that is. Of the relay's two sides both are tried: the feed itself, and the relay.
FAULTS = {
    "a replica of two shards": ("exporter-0-a", "exporter-2-a"),
    "an agent": ("agent-a",),
    "a database": ("victoriametrics-a",),
    "the feed": ("feed",),
    "the relay": ("relay",),
}
CONTROL_SHARD = 1
CONTROL = (f"exporter-{CONTROL_SHARD}-a", f"exporter-{CONTROL_SHARD}-b")


class Campaign:
    def __init__(self, deployment: Deployment, faults: list[str], dead_for: float, rest: float, says=None):
        self.deployment, self.faults = deployment, faults
        self.dead_for, self.rest = dead_for, rest
        self._says = says or (lambda line: print(line, file=sys.stderr, flush=True))
        self.windows: list[Window] = []

    def run(self) -> Verdict:
        deployment = self.deployment
        deployment.start_all()
        try:
            self._says("started; waiting for all cities in both databases")
            for replica in ("a", "b"):
                count = 'count(airquality_index{job="air-quality-exporter"})'
                wait_for(lambda: deployment.number(replica, count) == deployment.cities, "all cities", 180, pause=0.5)
            self._pause(2 * deployment.scrape_interval)
            begin = time.time()
            self._pause(self.rest)
            for what in self.faults:
                self._fault(what, FAULTS[what])
            before_control = time.time()
            control = self._fault("control: both replicas of a shard", CONTROL)
            end = time.time()
            # What agents and databases still hold.
            self._pause(2 * deployment.scrape_interval)
            assert not deployment.dead(), deployment.dead()
            deployment.kill(*(name for name in deployment.running if not name.startswith("victoriametrics")))
            self._says("comparing")
            judge = Judge(deployment, self.windows, control, CONTROL_SHARD)
            return judge.verdict(begin, before_control, end)
        finally:
            deployment.stop_all()

    def _fault(self, what: str, names: tuple[str, ...]) -> Window:
        self._says(f"kill -9 for {self.dead_for:.0f} s: {what} ({', '.join(names)})")
        killed = time.time()
        self.deployment.kill(*names)
        self._pause(self.dead_for)
        started = time.time()
        self.deployment.start(*names)
        window = Window(what, killed, started)
        self.windows.append(window)
        self._pause(self.rest)
        return window

    def _pause(self, seconds: float) -> None:
        """The time that a fault lasts is the test's subject; nothing is waited for."""
        time.sleep(seconds)


def table(verdict: Verdict, cities: int) -> str:
    """Beside what was measured by hand before this was built (the reference)."""
    interval = verdict.interval
    gaps = ", ".join(f"{name} {gap:.1f}" for name, gap in verdict.gaps.items() if name != "both")
    ratios = ", ".join(f"{name} {ratio:.3f}" for name, ratio in verdict.growth.items())
    increases = ", ".join(f"{name} {ratio:.3f}" for name, ratio in verdict.increase.items())
    rows = [
        ("longest interval between samples of a city, control excluded", f"{verdict.gaps['both']:.1f} s at {interval} s ({gaps}); in: {verdict.gap_in}", "13.8 s at 10 s"),
        ("growth of the counters of changes ÷ truth", f"{ratios} (of {verdict.changes:,} changes)", "–"),
        ("`increase()` of changes ÷ truth", increases, "1.00"),
        ("series a city", f"{verdict.series_a_city}", "1"),
        ("samples compared, of them never sent", f"{verdict.samples:,}, {verdict.never_sent}", "749,836, 0"),
        ("cities counted, least and most", f"{verdict.counted[0]:.0f}, {verdict.counted[1]:.0f} of {cities}", "20000"),
        ("cities that the shards say they have", f"{verdict.known[0]:.0f}, {verdict.known[1]:.0f} of {cities}", "20000"),
        ("oldest value stored after a newer one was sent", f"{verdict.oldest:.1f} s", "–"),
        ("gap of the control", f"{verdict.control_gap:.1f} s", "30 s"),
    ]  # fmt: skip
    lines = ["| | here | reference |", "| --- | --- | --- |"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def make(programs: pathlib.Path, folder: pathlib.Path, **options) -> Deployment:
    return Deployment(programs, folder, **options)


assert CONTROL_SHARD < SHARDS
