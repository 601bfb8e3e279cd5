"""Shapes of messages: the README's flags read them."""

import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import time

import pytest

from support import metrics
from support.shapes import README, Sender, rows
from support.waiting import wait_for


def test_the_table_of_the_readme_has_twelve_shapes():
    assert len(list(rows())) == 12


@pytest.mark.parametrize("message, flags", rows())
def test_the_flags_of_a_table_row_read_its_message(start, message, flags):
    with Sender(message) as feed:
        exporter = start.exporter("--feed.url", feed.url, *flags)
        exporter.wait_for_sample(metrics.INDEX, 301, city="Delhi")
        assert sum(exporter.scrape().nonzero(metrics.REJECTED, "reason").values()) == 0


def test_the_element_of_the_readme_is_read_without_flags(start):
    element = json.loads(re.search(r"```json\n(.*?)```", README.read_text(), re.DOTALL)[1])
    time_ = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60))
    completed = {"city": "Delhi", "pollutants": {"pm10": 7}}
    with Sender(json.dumps(element | {"time": time_}), json.dumps(completed), "[]") as feed:
        exporter = start.exporter("--feed.url", feed.url)
        exporter.wait_for_sample("airquality_exporter_feed_messages_total", 3)
        page = exporter.scrape()
        assert page.value(metrics.INDEX, city="Delhi") == 301
        assert page.by(metrics.CONCENTRATION, "pollutant", city="Delhi") == {"pm10": 7}
        assert page.by("airquality_subindex", "pollutant", city="Delhi") == {"pm2_5": 301}
        place = {"country": "IN", "latitude": "28.65", "longitude": "77.23"}
        assert page.value("airquality_city_info", city="Delhi", **place) == 1
        assert page.nonzero(metrics.REJECTED, "reason") == {}


@pytest.mark.parametrize(
    "beginning, message, index",
    [
        ("--aqi.scale us", '[{"name": "Pune", "pm25": 9.0, "pm10": 3}]', 50),
        ("--aqi.scale eu", '[{"city": "Pune", "aqi": 80}]', 20),
    ],
)
def test_the_programs_of_the_readme_for_other_indices_read_them(start, beginning, message, index):
    found = re.search(rf"({beginning} [^']*'[^']*')", README.read_text())[1]
    flags = shlex.split(found.replace("\\\n", " ").replace("\\|", "|"))
    with Sender(message) as feed:
        exporter = start.exporter("--feed.url", feed.url, *flags)
        exporter.wait_for_sample(metrics.INDEX, index, city="Pune")


def test_a_jq_program_has_a_replaceable_worker_that_the_oom_killer_prefers(start, python_feed):
    exporter = start.reader(python_feed, "--feed.jq", ".")
    python_feed.send([{"city": "Delhi", "aqi": 301}])
    exporter.wait_for_sample(metrics.CITIES, 1)
    # A thread may end before its file is read; cat continues with the others.
    found = subprocess.run(
        f"cat /proc/{exporter.pid}/task/*/children", shell=True, stdout=subprocess.PIPE, text=True
    )
    children = found.stdout.split()
    assert [
        pathlib.Path(f"/proc/{child}/oom_score_adj").read_text().strip() for child in children
    ] == ["1000"]
    # A message that the killed worker has not seen goes to the next one.
    for child in children:
        os.kill(int(child), signal.SIGKILL)
        state = pathlib.Path(f"/proc/{child}/stat")
        wait_for(lambda: ") Z " in state.read_text(), "its end")
    python_feed.send([{"city": "Pune", "aqi": 51}])
    exporter.wait_for_sample(metrics.CITIES, 2)


def test_the_exporter_stops_cleanly_while_messages_are_still_queued(start):
    with Sender(*['{"c": 1}'] * 3000) as feed:
        slow = '[range(20000)] | add | {city: "Delhi", aqi: 1}'
        exporter = start.exporter("--feed.url", feed.url, "--feed.jq", slow)
        exporter.wait_for_sample(metrics.CITIES, 1)
        assert exporter.stop() is None


def test_a_jq_error_is_reported_in_jqs_own_words(start):
    with Sender('{"data": 7}') as feed:
        exporter = start.exporter("--feed.url", feed.url, "--feed.jq", ".data[]")
        exporter.wait_for_line("Cannot iterate over number")
        assert exporter.scrape().nonzero(metrics.REJECTED, "reason") == {"jq_error": 1}


def test_the_rejection_of_a_late_reading_is_explained(start):
    messages = [json.dumps({"city": "Delhi", "aqi": 301, "t": time.time() - s}) for s in (0, 60)]
    with Sender(*messages) as feed:
        exporter = start.exporter("--feed.url", feed.url, "--feed.time-field=t")
        line = exporter.wait_for_line("reason=bad_time")
        assert "city=Delhi value=301" in line
        assert 'err="older than the newest reading of the city"' in line


def test_a_jq_program_that_assigns_instead_of_comparing_is_explained(start):
    message = [{"city": "Pune", "aqi": 51}, {"city": "Mumbai", "aqi": 152}]
    with Sender(json.dumps(message)) as feed:
        exporter = start.exporter("--feed.url", feed.url, "--feed.jq", '.[] | .city = "Mumbai"')
        line = exporter.wait_for_line('msg="Duplicate city')
        assert "city=Mumbai cities=1" in line and "assigns and == compares" in line


def test_the_log_has_the_first_message_duplicate_cities_and_times_without_a_zone(start):
    message = [{"city": "Pune", "aqi": 51, "at": "2026-01-01T00:00:00"}] * 2
    with Sender(json.dumps(message), json.dumps(message)) as feed:
        exporter = start.exporter(
            "--feed.url", feed.url, "--feed.time-field=at", "--log.level=debug"
        )
        exporter.wait_for_line('msg="Duplicate city')
        exporter.wait_for_line('msg="Feed times have no zone')
        exporter.wait_for_sample(metrics.READINGS, 4)
        assert exporter.count_lines("--feed.time-zone") == 1
        [line] = [line for line in exporter.errors if 'msg="First message"' in line]
        assert r'\"city\": \"Pune\"' in line
