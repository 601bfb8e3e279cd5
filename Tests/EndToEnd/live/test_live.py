"""`make live` as it is, its alerts before a real Prometheus, and what the bridge takes of the
machine.
"""

import os
import pathlib
import socket
import subprocess
import time
import urllib.request

import pytest
import yaml

from live import sources
from live.sources import HOUR, Answer, hour_now
from live.test_sources import AIR, DELHI, PUNE, SOURCES, open_meteo
from support import metrics
from support.exposition import Exposition
from support.programs import Program, free_ports
from support.waiting import wait_for

ROOT = pathlib.Path(__file__).resolve().parents[3]
RULES = ROOT / "grafana" / "rules"


def scrape(port: int) -> Exposition:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as response:
        return Exposition(response.read().decode())


def recipe(*settings: str) -> str:
    """The command that `make live` ends with."""
    command = ["make", "--dry-run", "--no-print-directory", "live", *settings]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip().splitlines()[-1]


def test_make_live_runs_this_command():
    assert recipe() == "INDEX=india Tests/Tools/run-live .build/release"
    given = recipe("INDEX=us", "POLL=--set capitals --rate 9/1m")
    assert given == "INDEX=us Tests/Tools/run-live .build/release --set capitals --rate 9/1m"


def run_live(
    programs, flags: list[str], index: str = "india", port: int | None = None
) -> tuple[Program, int]:
    """That command, with these programs in place of the built ones."""
    port = port or free_ports(1)[0]
    command = [str(ROOT / "Tests/Tools/run-live"), str(programs.folder), *flags]
    return Program(command, {"PORT": str(port), "INDEX": index}), port


def test_make_live_is_the_air_of_the_twelve_cities(programs, serve):
    """With the local server in place of Open-Meteo."""
    live, port = run_live(programs, [f"--base-url={serve(open_meteo()).url}"])
    with live:
        live.wait_for_match("(Ctrl-C ends it.)", live.output)
        assert any(f"http://localhost:{port}/metrics" in line for line in live.output)
        assert any("Open-Meteo.com" in line and "CC BY 4.0" in line for line in live.output)
        wait_for(lambda: len(scrape(port).samples(metrics.INDEX)) == 12, "the twelve cities")
        page = scrape(port)
        cities = page.by(metrics.INDEX, "city")
        assert "Delhi" in cities and set(cities.values()) == {75}
        updated = page.value("airquality_last_update_timestamp_seconds", city="Delhi")
        assert updated in (hour_now(), hour_now() - HOUR)
        children = pathlib.Path(f"/proc/{live.pid}/task/{live.pid}/children").read_text().split()
        assert len(children) >= 2
    folders = [pathlib.Path(f"/proc/{child}/exe") for child in children]
    wait_for(lambda: not any(folder.exists() for folder in folders), "the end of both")


@pytest.mark.parametrize("source", SOURCES)
def test_make_live_with_each_source_and_prometheus_beside_it(
    source, programs, serve, start, cities, key_file, tmp_path
):
    """Index, pollutants and source reach Prometheus; every rule runs, and none of them has anything
    to say.
    """
    answer, flags, index, _, pollutants, header = SOURCES[source]
    scale = "us" if source == "waqi" else "india"
    flags = [flag for flag in flags if not flag.startswith("--index")]
    flags += [f"--source={source}", f"--base-url={serve(answer).url}"]
    live, port = run_live(programs, [*flags, cities(DELHI, PUNE), key_file], scale)
    with live:
        wait_for(lambda: len(scrape(port).samples(metrics.INDEX)) == 2, "both cities", 60)
        rules = quick_rules(tmp_path)
        target = f"127.0.0.1:{port}"
        prometheus = start.prometheus(tmp_path, target, rules=rules, interval="300ms")
        prometheus.wait_for(f"airquality_index{{city='Delhi'}} == {index}")
        kind = header.split("kind=")[1].split(";")[0]
        prometheus.wait_for(f"{metrics.SOURCE}{{source='{source}', kind='{kind}'}} == 1")
        found = prometheus.query(f"{metrics.CONCENTRATION}{{city='Delhi'}}")
        values = {row["metric"]["pollutant"]: float(row["value"][1]) for row in found}
        assert values == (pollutants or {})
        prometheus.wait_for("count_over_time(airquality_index{city='Delhi'}[1m]) >= 5", 60)
        rules = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
        assert len(rules) > 10 and all(rule["health"] == "ok" for rule in rules), rules
        assert prometheus.ask("alerts")["alerts"] == []


@pytest.mark.parametrize(
    "flags, line",
    [
        (["--source=openaq"], "expected a file with the key for openaq"),
        (["--rate=nonsense"], '--rate "nonsense": expected'),
    ],
)
def test_make_live_says_what_is_wrong_with_its_flags(programs, flags, line):
    live, _ = run_live(programs, flags)
    assert live.wait(60) == 1
    assert live.count_lines(line)


def test_make_live_ends_when_one_of_both_ends(programs, serve):
    server = serve(open_meteo())
    with socket.socket() as taken:
        # Nobody listens there, so the script goes on to the exporter, which cannot.
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        live, _ = run_live(programs, [f"--base-url={server.url}"], port=port)
        assert live.wait(60) == 1
        assert live.count_lines("Cannot start")


# MARK: Alerts


def quick_rules(folder: pathlib.Path) -> list[str]:
    """The rules, evaluated three times a second, and the alerts without their patience."""
    copies = []
    for source in sorted(RULES.glob("*.yaml")):
        rules = yaml.safe_load(source.read_text())
        for group in rules["groups"]:
            group["interval"] = "300ms"
            for rule in group["rules"]:
                rule.pop("for", None)
        copy = folder / source.name
        copy.write_text(yaml.safe_dump(rules, allow_unicode=True))
        copies.append(str(copy))
    return copies


# City → how many hours old its newest hour is. Index of the rows of `cities` by their latitude.
AGES = {
    "as it should be": ({"Delhi": 1, "Pune": 2}, set()),
    "one city is silent": ({"Delhi": 1, "Pune": 8}, {("AirQualityCityStale", "Pune")}),
    "the source stands still": (
        {"Delhi": 6, "Pune": 8},
        {("AirQualityCityStale", "Delhi"), ("AirQualityCityStale", "Pune")},
    ),
}


@pytest.mark.parametrize("story", AGES)
def test_alerts_of_real_air(story, start, serve, cities, tmp_path):
    """The bridge, the exporter and a real Prometheus with the rules: hourly values are no alarm,
    older ones are the right one."""
    ages, wanted = AGES[story]
    now = int(time.time()) // HOUR * HOUR
    by_latitude = {28.6139: ages["Delhi"], 18.5204: ages["Pune"]}

    def value(latitude, longitude, pollutant, time_):
        return AIR.get(pollutant) if time_ <= now - by_latitude[latitude] * HOUR else None

    server = serve(lambda path, query, headers: Answer(sources.open_meteo(query, value)))
    bridge = start.feed("poll", f"--base-url={server.url}", cities(DELHI, PUNE))
    exporter = start.exporter(
        "--feed.url", bridge.url, "--feed.time-field=time", "--feed.pollutants-field=pollutants"
    )
    exporter.wait_for_sample(metrics.CITIES, 2)
    rules = quick_rules(tmp_path)
    prometheus = start.prometheus(tmp_path, exporter.address, rules=rules, interval="300ms")
    prometheus.wait_for(
        "count(airquality_index) == 2 and count(airquality_concentration_ugm3) == 12"
    )
    # Everything has been looked at several times.
    prometheus.wait_for("count_over_time(airquality_index{city='Delhi'}[1m]) >= 5", 60)

    def firing() -> set[tuple[str, str | None]]:
        return {
            (alert["labels"]["alertname"], alert["labels"].get("city"))
            for alert in prometheus.ask("alerts")["alerts"]
            if alert["state"] == "firing"
        }

    if wanted:
        wait_for(lambda: firing() == wanted, f"{wanted}", 30)
    assert firing() == wanted
    rules = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
    assert not [rule for rule in rules if rule.get("lastError")]


# MARK: What it takes


def test_the_bridge_with_three_hundred_cities_stays_small(start, serve, listen):
    """A model's two days of six pollutants for each."""
    server = serve(open_meteo())
    bridge = start.feed("poll", "--set=india", f"--base-url={server.url}")
    listener = listen(bridge.url)
    listener.wait_for(lambda elements: len({e["city"] for e in elements}) == 300, "300 cities")
    if "AIRQUALITY_SLOW" not in os.environ:
        assert bridge.peak_resident_bytes < 64 << 20
    # Not by the clock: once everything is known, nothing is asked and next to nothing done.
    assert [len(query["latitude"][0].split(",")) for _, query, _ in server.requests] == [50] * 6


def test_connections_that_only_look_are_not_talked_about(start, serve, cities, listen):
    """As probes of Kubernetes do: connect and go away."""
    bridge = start.feed("poll", f"--base-url={serve(open_meteo()).url}", cities(DELHI))
    for _ in range(20):
        socket.create_connection(("127.0.0.1", bridge.port)).close()
    assert listen(bridge.url).wait_for_city("Delhi")["aqi"] == 75
    assert bridge.messages == []
