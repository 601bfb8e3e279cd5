"""The alert rules as VictoriaMetrics evaluates them."""

import json
import re
import struct
import urllib.parse
import urllib.request
from collections import Counter, defaultdict
from pathlib import Path

import yaml

from grafana.rules import RULES, UNITS
from grafana.simulation import scraped
from grafana.stories import Story
from support.programs import Program, free_ports
from support.waiting import wait_for

Labels = tuple[tuple[str, str], ...]
STALE = struct.pack("<Q", 0x7FF0000000000002)
# In the past, and a multiple of all steps.
BEGIN = 1_790_000_000 // 86_400 * 86_400


class VictoriaMetrics(Program):
    def __init__(self, folder: Path):
        self.url = f"http://127.0.0.1:{free_ports(1)[0]}"
        flags = [f"-storageDataPath={folder}", f"-httpListenAddr={self.url[7:]}"]
        super().__init__(["victoria-metrics", *flags, "-retentionPeriod=50y"])
        wait_for(self._is_ready, "VictoriaMetrics to be ready", 60)

    def _is_ready(self) -> bool:
        try:
            return bool(self._request("/health"))
        except OSError:
            return False

    def _request(self, path: str, content: bytes | None = None) -> bytes:
        with urllib.request.urlopen(self.url + path, data=content, timeout=120) as response:
            return response.read()

    def write(self, series: dict[Labels, list[tuple[int, bytes]]]) -> None:
        """Series with their samples: the second, and the bytes of the double."""
        request = b"".join(field(1, time_series(*each)) for each in series.items())
        self._request("/api/v1/write", as_snappy(request))
        self._request("/internal/force_flush")

    def query_range(self, expression: str, story: str, end: int, step: int):
        """By labels: the seconds at which it has a value. Instant values count for five minutes."""
        query = {
            "query": expression,
            "start": BEGIN,
            "end": BEGIN + end,
            "step": f"{step}s",
            "max_lookback": "5m",
            "nocache": 1,
            "extra_label": f"story={story}",
        }
        response = self._request("/api/v1/query_range", urllib.parse.urlencode(query).encode())
        for result in json.loads(response)["data"]["result"]:
            labels = {k: v for k, v in result["metric"].items() if k not in ("__name__", "story")}
            yield labels, {int(when) - BEGIN for when, _ in result["values"]}


def field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + varint(len(content)) + content


def varint(value: int) -> bytes:
    head = b""
    while value > 127:
        head += bytes([value & 127 | 128])
        value >>= 7
    return head + bytes([value])


def time_series(labels: Labels, samples: list[tuple[int, bytes]]) -> bytes:
    """A TimeSeries of the remote write protocol."""
    content = b""
    for name, value in sorted(labels):
        content += field(1, field(1, name.encode()) + field(2, value.encode()))
    for second, value in samples:
        content += field(2, b"\x09" + value + b"\x10" + varint((BEGIN + second) * 1000))
    return content


def as_snappy(content: bytes) -> bytes:
    """Snappy's format, without compression."""
    parts = [varint(len(content))]
    for begin in range(0, len(content), 65536):
        part = content[begin : begin + 65536]
        parts += [bytes([61 << 2]), struct.pack("<H", len(part) - 1), part]
    return b"".join(parts)


def seconds(duration: str | None) -> int:
    return int(duration[:-1]) * UNITS[duration[-1]] if duration else 0


def fire(victoria: VictoriaMetrics, story: Story) -> dict[int, Counter[tuple[str, str]]]:
    """Each second of evaluation → the alerts that fire then, with how many."""
    interval, end = story.interval, story.minutes * 60
    name = re.sub(r"\W+", "-", story.name)
    samples = {}
    for series, values in scraped(story.exporters, story.minutes, interval).items():
        labels = tuple((label, value) for label, value in series if value) + (("story", name),)
        is_time = re.search("timestamp|start_time", labels[0][1])
        zero = BEGIN if is_time else 0
        samples[labels] = [
            (turn * interval, STALE if value == "stale" else struct.pack("<d", zero + float(value)))
            for turn, value in enumerate(values)
            if value != "_"
        ]
    victoria.write(samples)
    firing: dict[int, Counter[tuple[str, str]]] = defaultdict(Counter)
    for group in yaml.safe_load(RULES.read_text())["groups"]:
        for rule in group["rules"]:
            alert = rule["alert"], rule["labels"]["severity"]
            for times in times_of(victoria, rule, name, end, interval).values():
                for second in times:
                    firing[second][alert] += 1
    return firing


def times_of(victoria, rule, story: str, end: int, interval: int) -> dict[Labels, set[int]]:
    """When the alerts of a rule fire. One that refers to itself is evaluated until nothing changes;
    that reference does not need to see where an alert ends."""
    is_recursive = f'alertname="{rule["alert"]}"' in rule["expr"]
    known: dict[Labels, set[int]] = defaultdict(set)
    while True:
        news: dict[Labels, list[tuple[int, bytes]]] = {}
        for result, true in victoria.query_range(rule["expr"], story, end, interval):
            identity = {"__name__": "ALERTS", "alertname": rule["alert"], "alertstate": "firing"}
            labels = tuple((result | rule["labels"] | identity | {"story": story}).items())
            times = firing_times(rule, true, end, interval)
            samples = [(second, struct.pack("<d", 1)) for second in times - known[labels]]
            if samples and not is_recursive:
                samples += [(s + interval, STALE) for s in times if s + interval not in times]
            if samples:
                news[labels] = sorted(samples)
            known[labels] |= times
        if news:
            victoria.write(news)
        if not news or not is_recursive:
            return known


def firing_times(rule, true: set[int], end: int, interval: int) -> set[int]:
    """Applies `for` and `keep_firing_for`."""
    hold, keep = seconds(rule.get("for")), seconds(rule.get("keep_firing_for"))
    times, since, last = set(), None, None
    for second in range(0, end + 1, interval):
        if second in true:
            since = second if since is None else since
            if second - since >= hold:
                last = second
        elif last is None or second - last > keep:
            since, last = None, None
        if last is not None:
            times.add(second)
    return times
