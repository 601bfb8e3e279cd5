"""The side-by-side benchmark with the same exporter in other languages, which is no part of this
project."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import types

# What the harness calls our row.
OURS = "swift"


class Harness:
    """Its folder, and what can be done with it: its commands, or its parts."""

    def __init__(self, folder: pathlib.Path, program: pathlib.Path):
        self.folder, self.program = folder.resolve(), program.resolve()
        script = self.folder / "bench"
        if not (script.is_file() and (self.folder / "build" / "feed").is_file()):
            sys.exit(
                f"{folder}: expected the folder of the side-by-side benchmark, with its peers "
                "built (bench build)"
            )
        if not self.program.is_file():
            sys.exit(
                f"{program}: no such program; swift build -c release --static-swift-stdlib makes it"
            )
        loader = importlib.machinery.SourceFileLoader("bench", str(script))
        self.parts = importlib.util.module_from_spec(
            importlib.util.spec_from_loader("bench", loader)
        )
        sys.dont_write_bytecode = True
        loader.exec_module(self.parts)
        # Per cent of the processors that others kept busy between measurements, by command.
        self.noise: list[float] = []

    def run(self, command: str, *options: str) -> dict:
        """The results that a command of the harness wrote."""
        print(f"bench {command} {' '.join(options)}", file=sys.stderr, flush=True)
        began = time.monotonic()
        output = subprocess.run(
            [self.folder / "bench", command, *options],
            env={**os.environ, "BENCH_SWIFT": str(self.program)},
            stdout=subprocess.PIPE,
            text=True,
        )
        written = re.search(r"^written: (.*)$", output.stdout, re.M)
        if output.returncode or not written:
            sys.exit(f"bench {command} ended with status {output.returncode} and wrote no results")
        print(f"  {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        results = json.loads((self.folder / written[1]).read_text())
        # It stands at another place in each command's results.
        self.noise += map(
            float, re.findall(r'"others_busy_percent_median": ([\d.]+)', json.dumps(results))
        )
        return results

    def target(self, name: str):
        options = types.SimpleNamespace(
            table=str(self.folder / "targets.json"), targets=name, target_cmd=None, families=3)
        (target,) = self.parts.load_targets(options, ("peer", "subject"))
        target.row["start"] = [
            str(self.program) if part == "{env:BENCH_SWIFT}" else part
            for part in target.row["start"]
        ]
        return target


class Run:
    """A target and its feed, while they run."""

    def __init__(self, harness: Harness, name: str, cities: int, keep_all: bool = False):
        """keep_all: every reading becomes a point of the history."""
        self.harness, self.parts, self.target = harness, harness.parts, harness.target(name)
        self.cities, self.batch, self.keep_all = cities, 8 if cities < 1000 else 100, keep_all
        # Messages that name all cities once.
        self.sweep = -(-cities // self.batch)
        # Seconds that anything may take.
        self.limit = 120 if cities <= 100_000 else 600
        self.sentinel = 0

    def __enter__(self):
        # Room for several sweeps, each with other values; a reading takes 45 bytes.
        self.feed = self.parts.Feed(
            self.cities, self.batch, pool_mb=max(16, self.cities * 45 * 4 >> 20)
        )
        try:
            self.target.start(
                feed=self.feed, extra=self.target.row["history_now"] if self.keep_all else ()
            )
            self.feed.wait("connected", 60)
            self.target.wait_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.target.stop()
        self.feed.stop()

    def memory(self, kind: str = "rss") -> int:
        return self.parts.memory(self.target.pid)[kind] * 1024

    def cpu(self) -> float:
        return self.parts.cpu_seconds(self.target.pid)

    def burst(self, messages: int) -> float:
        """Seconds until the target is at rest again."""
        self.sentinel += 1
        self.feed.send(f"burst {messages} {self.sentinel}")
        self.sent = self.feed.wait("burst_done", self.limit)
        rest, self.spent = self.target.wait_quiet(self.limit)
        return max(rest, self.sent["end"]) - self.sent["begin"]

    def check(self) -> None:
        """Each value sent is the value served."""
        self.target.wait_sentinel(self.sentinel, self.limit)
        expected = self.feed.expect(str(pathlib.Path(self.target.run) / "expected"))
        page = self.target.get(timeout=self.limit)[1]
        served = self.parts.parse_metric(page, self.target.row["metric"], self.target.row["label"])
        self.parts.compare(self.target, expected, served, "/metrics")

    def scrape(self, gzip: bool, seconds: float = 0) -> tuple[float, float, int]:
        """Milliseconds of the median scrape, processor milliseconds of the mean one, bytes on the
        wire."""
        self.target.settle()
        before = self.cpu()
        load = self.parts.run_load(
            types.SimpleNamespace(client="load"), self.target, 1, gzip, seconds, self.limit, None,
            minimum=3 if seconds else 1)
        if not load["requests"] or load["errors"] or load["non200"] or load["unfinished"]:
            raise RuntimeError(f"{self.target.name}: scrapes failed: {load}")
        return (
            load["p50_us"] / 1e3,
            (self.cpu() - before) / load["requests"] * 1e3,
            load["body_bytes"],
        )


def rounded(value):
    """Four digits are more than the measurement has."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def write_section(name: str, text: str) -> None:
    """Puts the text between the README's comments `name` and `end of name`."""
    file = pathlib.Path(__file__).with_name("README.md")
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = file.read_text().partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        sys.exit(f"{file}: expected the comments {begin.strip()} and {end}")
    file.write_text(f"{before}{begin}\n{text}\n\n{end}{after}")
