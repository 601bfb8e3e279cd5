"""The real programs, running: a feed with odd city names, the exporter, and a Prometheus that scrapes it."""

import asyncio
import contextlib
import functools
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import websockets
import yaml

from dashboards import GRAFANA, PROJECT

# Everything that breaks a query, a link or a label when somebody forgets to escape it. A back-tick is not among them:
# it ends the raw string that the dashboards put the name into, see the README.
CITIES = [
    "Delhi",
    "St. John's",
    "City (North)",
    'The "Quoted" Town',
    "Back\\slash",
    "A&B/C?d=e#f+g",
    "50% [x]{y}",
    "$city ${city}",
    "a|b^c$.*",
    "São Paulo",
    "新德里",
    "{{city}}, <b>bold</b>",
]
# A city goes up and down between two of these, so that every category occurs and every city changes.
LEVELS = [25.5, 75.25, 150.0, 250.5, 350.75, 450.0]
POINTS = 25
INTERVAL = 0.2
DEADLINE = 120.0


class Failed(Exception):
    """The programs could not be brought to where the checks begin."""


def await_condition(what: str, condition: Callable[[], object]) -> None:
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"waited {DEADLINE:.0f} s in vain for: {what}")
        time.sleep(0.1)


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.read().decode()


def answers(url: str) -> bool:
    try:
        fetch(url)
        return True
    except (OSError, urllib.error.HTTPError):
        return False


class Prometheus:
    def __init__(self, address: str) -> None:
        self.address = address

    def ask(self, path: str, **parameters: object) -> list | dict:
        """The `data` of an answer; ValueError with Prometheus' own words when it refuses."""
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters, doseq=True)}"
        try:
            return json.loads(fetch(url))["data"]
        except urllib.error.HTTPError as error:
            raise ValueError(json.loads(error.read()).get("error", str(error))) from None

    def instant(self, expression: str) -> list[dict]:
        """[{metric, value}]; a scalar is a vector of one without labels."""
        data = self.ask("query", query=expression)
        return [{"metric": {}, "value": data["result"]}] if data["resultType"] == "scalar" else data["result"]

    def over_time(self, expression: str, seconds: float, step: float) -> list[dict]:
        now = time.time()
        return self.ask("query_range", query=expression, start=now - seconds, end=now, step=step)["result"]


@dataclass
class Stack:
    exporter: str
    """host:port"""
    prometheus: Prometheus
    help: str
    """What the exporter prints for --help."""

    def metrics(self) -> str:
        return fetch(f"http://{self.exporter}/metrics")

    def history(self, **parameters: object) -> dict:
        return json.loads(
            fetch(f"http://{self.exporter}/history.json?{urllib.parse.urlencode(parameters, doseq=True)}")
        )


def message(turn: int) -> str:
    elements: list[dict] = [
        {"city": city, "aqi": LEVELS[(index + (turn // 6 + index) % 2) % len(LEVELS)]}
        for index, city in enumerate(CITIES)
    ]
    return "not JSON" if turn % 10 == 9 else json.dumps(elements + [{"city": "Nowhere", "aqi": None}])


@contextlib.contextmanager
def feed() -> Iterator[str]:
    """A WebSocket server that sends all cities every `INTERVAL`; yields its address."""
    loop = asyncio.new_event_loop()
    address: list[str] = []
    started, stop = threading.Event(), asyncio.Event()

    async def send(connection: websockets.ServerConnection) -> None:
        with contextlib.suppress(websockets.ConnectionClosed):
            turn = 0
            while True:
                await connection.send(message(turn))
                turn += 1
                await asyncio.sleep(INTERVAL)

    async def serve() -> None:
        async with websockets.serve(send, "127.0.0.1", 0) as server:
            address.append(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
            started.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    if not started.wait(DEADLINE):
        raise Failed("the feed did not start")
    try:
        yield address[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(DEADLINE)


@contextlib.contextmanager
def program(arguments: list[str | Path], log: Path, listening: str) -> Iterator[str]:
    """Runs a program until the end of the block; yields what `listening` finds in its output."""
    with log.open("w") as output:
        process = subprocess.Popen(arguments, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:

            def address() -> re.Match[str] | None:
                if process.poll() is not None:
                    raise Failed(f"{Path(arguments[0]).name} ended with {process.returncode}: {log.read_text()[-500:]}")
                return re.search(listening, log.read_text())

            await_condition(f"the address of {Path(arguments[0]).name}", address)
            found = address()
            yield found.group(1) if found else ""
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def executable(name: str) -> Path:
    directory = Path(os.environ.get("AIRQUALITY_BIN_DIR", PROJECT / ".build" / "debug"))
    return (PROJECT / directory / name).resolve()


def quick_rules(directory: Path) -> list[str]:
    """Copies of the rule files whose groups run each second instead of each minute."""
    copies = []
    for source in sorted((GRAFANA / "rules").glob("*.yaml")):
        rules = yaml.safe_load(source.read_text())
        for group in rules["groups"]:
            group["interval"] = "1s"
        copy = directory / source.name
        copy.write_text(yaml.safe_dump(rules, allow_unicode=True))
        copies.append(str(copy))
    return copies


@contextlib.contextmanager
def stack() -> Iterator[Stack]:
    """Everything up, every city changed, the history full, the rules evaluated."""
    binary, prometheus_binary = executable("air-quality-exporter"), shutil.which("prometheus")
    if not binary.exists():
        raise Failed(f"no {binary}: build first, or set AIRQUALITY_BIN_DIR")
    with contextlib.ExitStack() as running:
        directory = Path(running.enter_context(tempfile.TemporaryDirectory(prefix="airquality-grafana-")))
        feed_address = running.enter_context(feed())
        command = [
            binary, "--feed.url", feed_address, "--web.listen-address", "127.0.0.1:0",
            "--history.interval", "0", "--storage.file", directory / "cities.sqlite",
        ]  # fmt: skip
        exporter = running.enter_context(
            program(command, directory / "exporter.log", r"(?i)listening[^\n]*?(127\.0\.0\.1:\d+)")
        )
        configuration = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": quick_rules(directory),
            "scrape_configs": [{"job_name": "air-quality-exporter", "static_configs": [{"targets": [exporter]}]}],
        }
        (directory / "prometheus.yml").write_text(yaml.safe_dump(configuration))
        command = [
            str(prometheus_binary), f"--config.file={directory / 'prometheus.yml'}",
            f"--storage.tsdb.path={directory / 'tsdb'}", "--web.listen-address=127.0.0.1:0",
        ]  # fmt: skip
        address = running.enter_context(
            program(command, directory / "prometheus.log", r'msg="Listening on" address=(127\.0\.0\.1:\d+)')
        )
        help_text = subprocess.run([binary, "--help"], capture_output=True, text=True, timeout=DEADLINE).stdout
        found = Stack(exporter, Prometheus(address), help_text)
        await_ready(found)
        yield found


def await_ready(running: Stack) -> None:
    prometheus, cities = running.prometheus, len(CITIES)
    await_condition("the exporter to be ready", lambda: answers(f"http://{running.exporter}/-/ready"))
    await_condition("Prometheus to be ready", lambda: answers(f"http://{prometheus.address}/-/ready"))
    conditions = {
        "ten scrapes": "min(count_over_time(airquality_index[1m])) >= 10",
        "better cities": f"count(max_over_time(airquality_category_direction[1m]) == 1) == {cities}",
        "worse cities": f"count(min_over_time(airquality_category_direction[1m]) == -1) == {cities}",
        "a full history": f"airquality_exporter_history_points == {POINTS * cities}",
        "a written storage": "airquality_exporter_storage_last_write_timestamp_seconds > 0",
        "refusals": "count(airquality_exporter_feed_refusals_total > 0) >= 2",
        "records": "count(count by (category) (instance_city_category:airquality_category:ratio1d)) == 6",
        "an alert": "count(ALERTS{alertstate='firing'}) > 0",
    }
    for what, expression in conditions.items():
        await_condition(f"{what}: {expression}", functools.partial(prometheus.instant, expression))
