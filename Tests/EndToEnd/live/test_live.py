"""`make live`, its alerts in a real Prometheus, and the resources that `poll` uses."""

import pathlib
import socket
import subprocess
import time
import urllib.request

import pytest
import yaml

from live import sources
from live.sources import HOUR, Response, hour_now
from live.test_sources import AIR, DELHI, PUNE, open_meteo
from support import metrics
from support.exposition import Exposition
from support.memory import IS_SANITIZED
from support.programs import Program, free_ports
from support.waiting import wait_for

ROOT = pathlib.Path(__file__).resolve().parents[3]
RULES = ROOT / "grafana" / "rules"


def scrape(port: int) -> Exposition:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as response:
        return Exposition(response.read().decode())


def recipe(*settings: str) -> str:
    """The last command of `make live`."""
    command = ["make", "--dry-run", "--no-print-directory", "live", *settings]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip().splitlines()[-1]


def test_make_live_passes_its_settings_to_run_live():
    assert recipe() == "INDEX= Tests/Tools/run-live .build/release"
    given = recipe("INDEX=us", "POLL=--set capitals --rate 9/1m")
    assert given == "INDEX=us Tests/Tools/run-live .build/release --set capitals --rate 9/1m"


def run_live(
    programs, flags: list[str], index: str = "", port: int | None = None
) -> tuple[Program, int]:
    """Runs that command, with these programs in place of the built ones."""
    port = port or free_ports(1)[0]
    command = [str(ROOT / "Tests/Tools/run-live"), str(programs.folder), *flags]
    return Program(command, {"PORT": str(port), "INDEX": index}), port


def test_make_live_serves_the_indices_of_the_twelve_cities(programs, serve):
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


def test_make_live_serves_another_source(programs, serve):
    url = serve(lambda *_: Response([{"city": "Delhi", "aqi": 75}])).url
    live, port = run_live(programs, ["--source=json", f"--url={url}/", "--jq=."])
    with live:
        live.wait_for_match("(Ctrl-C ends it.)", live.output)
        wait_for(lambda: scrape(port).by(metrics.INDEX, "city") == {"Delhi": 75}, "the city")


def test_make_live_reports_invalid_flags(programs):
    live, _ = run_live(programs, ["--source=openaq"])
    assert live.wait(60) == 1
    assert live.count_lines("expected a file with the key for openaq")


def test_make_live_ends_if_the_exporter_cannot_start(programs, serve):
    server = serve(open_meteo())
    with socket.socket() as taken:
        # Nothing listens there, so the script goes on to the exporter, which cannot bind it.
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        live, _ = run_live(programs, [f"--base-url={server.url}"], port=port)
        assert live.wait(60) == 1
        assert live.count_lines("Cannot start")


# MARK: Alerts


def quick_rules(folder: pathlib.Path) -> list[str]:
    """The rules, evaluated three times a second, with alerts that fire at once, even if the
    exporter has not been there for an hour."""
    copies = []
    for source in sorted(RULES.glob("*.yaml")):
        text = source.read_text()
        assert text.count("[1h:1m]) > 54") == 3
        rules = yaml.safe_load(text.replace("[1h:1m]) > 54", "[1h:1s]) > 0"))
        for group in rules["groups"]:
            group["interval"] = "300ms"
            for rule in group["rules"]:
                rule.pop("for", None)
        copy = folder / source.name
        copy.write_text(yaml.safe_dump(rules, allow_unicode=True))
        copies.append(str(copy))
    return copies


# The age of each city's newest hour, in hours, and the alerts that must fire.
AGES = {
    "as it should be": ({"Delhi": 1, "Pune": 2}, set()),
    "one city is silent": ({"Delhi": 1, "Pune": 8}, {("AirQualityCityStale", "Pune")}),
    "the source stands still": ({"Delhi": 6, "Pune": 8}, {("AirQualityNoReadings", None)}),
}


@pytest.mark.parametrize("story", AGES)
def test_hourly_values_raise_alerts_only_for_stale_cities(story, start, serve, cities, tmp_path):
    """`poll`, the exporter and a real Prometheus with the rules: hourly values raise no alert,
    older ones the right one."""
    ages, wanted = AGES[story]
    now = int(time.time()) // HOUR * HOUR
    by_latitude = {28.6139: ages["Delhi"], 18.5204: ages["Pune"]}

    def value(latitude, longitude, pollutant, time_):
        return AIR.get(pollutant) if time_ <= now - by_latitude[latitude] * HOUR else None

    server = serve(lambda path, query, headers: Response(sources.open_meteo(query, value)))
    feed = start.feed("poll", f"--base-url={server.url}", cities(DELHI, PUNE))
    exporter = start.exporter("--feed.url", feed.url)
    exporter.wait_for_sample(metrics.CITIES, 2)
    rules = quick_rules(tmp_path)
    prometheus = start.prometheus(tmp_path, exporter.address, rules=rules, interval="300ms")
    prometheus.wait_for(
        "count(airquality_index) == 2 and count(airquality_concentration_ugm3) == 12"
    )
    # By then, every rule has been evaluated several times.
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


# MARK: Resources


def test_poll_with_three_hundred_cities_takes_little_memory_and_six_requests(start, serve, listen):
    """Each has a model's two days of six pollutants."""
    server = serve(open_meteo())
    feed = start.feed("poll", "--set=india", f"--base-url={server.url}")
    listener = listen(feed.url)
    listener.wait_for(lambda elements: len({e["city"] for e in elements}) == 300, "300 cities")
    if not IS_SANITIZED:
        assert feed.peak_resident_bytes < 64 << 20
    # Once everything is known, nothing more is requested.
    assert [len(query["latitude"][0].split(",")) for _, query, _ in server.requests] == [50] * 6


def test_connections_without_a_request_are_not_logged(start, serve, cities, listen):
    """Probes of Kubernetes connect and close at once."""
    feed = start.feed("poll", f"--base-url={serve(open_meteo()).url}", cities(DELHI))
    for _ in range(20):
        socket.create_connection(("127.0.0.1", feed.port)).close()
    assert listen(feed.url).wait_for_city("Delhi")["aqi"] == 75
    assert feed.messages == []
