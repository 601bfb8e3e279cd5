"""Shapes of messages: the README's flags read them, and `probe` finds a command line that does."""

import json
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import time

import pytest

from support import metrics
from support.peers import WebSocketFeed
from support.waiting import wait_for

README = pathlib.Path(__file__).parents[3] / "Sources/Exporter/AirQualityExporter/README.md"


def rows():
    """Shape, message and flags of each row of the README's table of shapes."""
    table = README.read_text().split("<!-- shapes: begin -->")[1].split("<!-- shapes: end -->")[0]
    for line in table.strip().splitlines()[2:]:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        message, flags = (re.sub(r"\\\|", "|", cell.strip("`").strip()) for cell in cells[1:])
        yield pytest.param(message, shlex.split(flags) if flags != "none" else [], id=cells[0])


class Sender(WebSocketFeed):
    """Sends its messages to each client that connects."""

    def __init__(self, *messages: str):
        self._messages = messages
        super().__init__()

    def _serve(self, connection):
        for message in self._messages:
            connection.send(message)
        super()._serve(connection)


def test_the_table_of_the_readme_has_twelve_shapes():
    assert len(list(rows())) == 12


@pytest.mark.parametrize("message, flags", rows())
def test_the_flags_of_a_table_row_read_its_message(start, message, flags):
    with Sender(message) as feed:
        exporter = start.exporter("--feed.url", feed.url, *flags)
        exporter.wait_for_sample(metrics.INDEX, 301, city="Delhi")
        assert sum(exporter.scrape().nonzero(metrics.REJECTED, "reason").values()) == 0


OTHERS = {
    "nested under a name each": {
        "data": {"Delhi": {"now": {"aqi": 301}}, "Pune": {"now": {"aqi": 51}}}
    },
    "nested groups": {"states": [{"state": "DL", "cities": [{"name": "Delhi", "aqi": 301}]}]},
    "measurements by parameter": {
        "station": "Delhi",
        "measurements": [{"parameter": "pm25", "value": 9}, {"parameter": "aqi", "value": 301}],
    },
    "an event and its payload": ["update", {"name": "Delhi", "aqi": 301}],
    "a Prometheus metric": {
        "metric": {"__name__": "aqi", "city": "Delhi"},
        "value": [1795236585, "301"],
    },
    "columns": {"city": ["Delhi", "Pune"], "aqi": [301, 51]},
    "rows with a header": [["city", "humidity", "aqi"], ["Delhi", 48, 301]],
    "names with a suffix": {"Delhi_aqi": 301, "Pune_aqi": 51},
    "an alternating list": ["Delhi", 301, "Pune", 51],
    "texts": ["Delhi: 301", "Pune: 51"],
    "one object per city": [{"Delhi": 301}, {"Pune": 51}],
    "a topic": {"topic": "sensors/Delhi/aqi", "payload": "301"},
    "a topic with a root": {"topic": "tele/Delhi/SENSOR", "payload": {"AQI": 301}},
    "a number before its label": {"place": "Delhi", "airQuality": "301 AQI"},
    "a number of a scale": {"place": "Delhi", "airQuality": "301/500"},
    "a sentence": {"city": "Delhi", "text": "AQI is 301"},
    "one entity": {
        "event": {"a": {"sensor.x": {"s": "301", "a": {"unit": "AQI", "name": "Delhi"}}}}
    },
    "JSON-RPC": {
        "jsonrpc": "2.0",
        "method": "air",
        "params": {"place": "Delhi", "aqi": {"us": 301}},
    },
    "tags and fields": {"tags": {"city": "Delhi"}, "fields": {"aqi": 301, "pm25": 180}},
    "JSON in a field": {"channel": "air", "payload": json.dumps([{"city": "Delhi", "aqi": 301}])},
    "a quotation mark": [{"station": {"name": "O'Hare"}, "aqi": 301}],
    "groups by name": {"IN": {"Delhi": 301, "Pune": 51}, "FR": {"Lyon": 61, "Paris": 62}},
    "groups of objects": {
        "data": {"IN": {"Delhi": {"aqi": 301}}, "FR": {"Lyon": {"aqi": 61}, "Paris": {"aqi": 62}}}
    },
    "server-sent events in a text": 'data: {"city": "Delhi", "aqi": 301}\n\n',
    "server-sent events with CRLF": 'id: 1\r\ndata: {"city": "Delhi", "aqi": 301}\r\n\r\n',
    "a label in the text": {"cities": [{"name": "Delhi", "reading": "AQI: 301"}]},
    "a category in the text": [{"place": "Delhi", "airQuality": "301 (Very Poor)"}],
    "the index of one pollutant": {
        "fields": ["sensor_index", "name", "latitude", "pm2.5_aqi"],
        "data": [[131075, "Delhi", 28.6, 301]],
    },
    "a value beside its description": {
        "result": 301,
        "@iot.id": 7,
        "Datastream": {"ObservedProperty": {"name": "AQI"}, "Thing": {"name": "Delhi"}},
    },
    "positional arguments": {"type": 1, "target": "Update", "arguments": ["Delhi", 301]},
    "labels of a log": {
        "streams": [{"stream": {"city": "Delhi"}, "values": [["1795236585", '{"aqi": 301}']]}]
    },
    "a device and its payload": {
        "end_device_ids": {"device_id": "Delhi"},
        "uplink_message": {"decoded_payload": {"aqi": 301}, "rx_metadata": [{"rssi": -35}]},
    },
    "values with units": {
        "site": {"id": "DL001", "title": "Delhi"},
        "reading": {"aqi": {"val": 301, "unit": "IN-AQI"}, "pm2_5": {"val": 180, "unit": "ug/m3"}},
    },
    "indices of pollutants": {
        "city": "Delhi",
        "pollutants": [{"name": "pm25", "aqi": 280}, {"name": "no2", "aqi": 40}],
        "overall_aqi": 301,
    },
    "columns without names": {
        "schema": {"fields": [{"name": "city"}, {"name": "aqi"}]},
        "data": {"values": [["Delhi", "Pune"], [301, 51]]},
    },
    "dots in names": [{"site.name": "Delhi", "pm2.5_aqi": 301}],
    "statistics of several quantities": [
        {
            "city": "Delhi",
            "readings": {"aqi": {"avg": 301, "max": 320}, "pm10": {"avg": 80, "max": 90}},
        }
    ],
    "weather beside air": {
        "weather": {"city": "Delhi", "value": 31}, "air_quality": {"city": "Delhi", "value": 301}
    },
    "a code that is a gas": {"city": "Delhi", "country": "NO", "value": 301},
    "an index as a unit": {"city": "Delhi", "value": 301, "unit": "index"},
    "units of other quantities": {
        "city": "Delhi", "index": 301, "wind": {"speed": 3, "unit": "m/s"},
    },
    "typed values": {
        "name": {"type": "Text", "value": "Delhi"},
        "airQualityIndex": {"type": "Number", "value": 301},
    },
    "a serial number": {"serialno": "Delhi", "pm02": 7, "aqi": 301, "model": "I-9PSL"},
}


@pytest.mark.parametrize(
    "message", [pytest.param(row.values[0], id=row.id) for row in rows() if row.values[1]]
    + [pytest.param(json.dumps(message), id=name) for name, message in OTHERS.items()],
)
def test_probe_suggests_a_command_line_that_reads_the_message(start, programs, message):
    # After the third message, probe stops waiting.
    with Sender(message, message, message) as feed:
        found = probe(programs, feed.url)
        assert found.returncode == 1, found.stdout
        command = shlex.split(found.stdout.split("to read it:\n")[1].splitlines()[0])
        exporter = start.exporter(*command[1:])
        city = "O'Hare" if "Hare" in message else "Delhi"
        exporter.wait_for_sample(metrics.INDEX, 301, city=city)


def test_probe_repeats_given_flags_whatever_their_position(programs):
    message = '{"data": {"city": "Delhi", "aqi": 301}}'
    with Sender(message, message, message) as feed:
        words = ["--feed.connect-timeout", "5s", "probe", "--timeout=2s", "--feed.header", "A: b"]
        command = [programs.folder / "air-quality-exporter", *words, "--", feed.url]
        found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert "to read it" in found.stdout, found.stdout + found.stderr
        named = shlex.split(found.stdout.split("to read it:\n")[1].splitlines()[0])
        flags = ["--feed.header=A: b", "--feed.connect-timeout=5s", "--feed.items", "/data"]
        assert named == ["air-quality-exporter", "--feed.url", feed.url, *flags]


def probe(programs, url: str, *flags: str) -> subprocess.CompletedProcess:
    if "--timeout" not in "".join(flags):
        flags += ("--timeout=2s",)
    return subprocess.run(
        [programs.folder / "air-quality-exporter", "probe", url, *flags],
        capture_output=True, text=True, timeout=60,
    )


def test_probe_succeeds_if_a_reading_arrives(programs):
    with Sender('[{"city": "Delhi", "aqi": 301}]') as feed:
        found = probe(programs, feed.url)
        assert found.returncode == 0
        assert "Delhi" in found.stdout and "301" in found.stdout


@pytest.mark.parametrize(
    "messages, flags, cities",
    [
        (
            [{"IN": {"Delhi": 301, "Pune": 51}, "FR": {"Lyon": 61, "Paris": 62}}],
            None,
            ["Delhi", "Lyon", "Paris", "Pune"],
        ),
        (
            [{"data": {"IN": {"Delhi": {"aqi": 301}}, "FR": {"Lyon": {"aqi": 61}}}}],
            None,
            ["Delhi", "Lyon"],
        ),
        (
            [{f"DL{number}": {"name": f"Place {number}", "aqi": 301} for number in range(10)}],
            None,
            [f"Place {number}" for number in range(10)],
        ),
        (
            [{"stations": {
                "DL1": {"name": "A Vihar", "city": "Delhi", "aqi": 301},
                "DL2": {"name": "RK Puram", "city": "Delhi", "aqi": 280},
            }}],
            None,
            ["A Vihar", "RK Puram"],
        ),
        ([{"topic": "sensors/station-1/aqi", "payload": 301}], None, ["station-1"]),
        ([{"topic": "air", "key": "Delhi", "value": {"aqi": 301}}], None, ["Delhi"]),
        (
            [{"coord": {"lon": 77.2, "lat": 28.6}, "list": [{"main": {"aqi": 2}, "dt": 1}]}],
            None,
            ["28.6,77.2"],
        ),
        ([[{"city": "Delhi", "aqi": 301}], {"type": "ping"}], "--feed.jq arrays", ["Delhi"]),
        ([[None, "3", "t", "update", {"city": "Delhi", "aqi": 301}]], "--feed.items /4", ["Delhi"]),
        (
            ['7 ["update",[{"city":"Delhi","aqi":301}]]'],
            "--feed.jq 'arrays | .[1]'",
            ["Delhi"],
        ),
        (
            [{"pollution": {"city": "Delhi", "aqi": 301}, "weather": {"city": "Delhi", "temp": 9}}],
            "--feed.items /pollution",
            ["Delhi"],
        ),
        (
            [{"type": "aqi", "data": [{"city": "Delhi", "aqi": 301}]}, {"type": "ping"}],
            """--feed.jq 'select(.type? == "aqi") | .data'""",
            ["Delhi"],
        ),
    ],
)
def test_probe_suggests_flags_that_read_every_city(programs, messages, flags, cities):
    texts = [each if isinstance(each, str) else json.dumps(each) for each in messages]
    with Sender(*(texts * 3)[:3]) as feed:
        found = probe(programs, feed.url).stdout
    command = re.search(r"to read (?:all of )?it:\n(.*)", found)[1]
    assert flags is None or command.endswith(flags), found
    rows = found.split("which reads:")[1].strip().splitlines()[1:]
    assert sorted({row.split("  ")[1] for row in rows}) == cities, found


@pytest.mark.parametrize(
    "messages",
    [
        ['[{"city": "Delhi", "aqi": 301}]', "[]"],
        # A part of a number is not a number.
        ['[{"city": "Delhi", "aqi": "1.234,5"}]'],
        ['[{"city": "Delhi", "aqi": "1,234.5"}]'],
        ['["Delhi: 1.234,5", "Pune: 2.345,6"]'],
        # Other numbers are not an index.
        ['{"fields": ["name", "humidity"], "data": [["Delhi", 41]]}'],
        # A city with an empty name differs from a feed that names no city.
        ['{"city": "", "aqi": 301}'],
        ['[{"city": "", "aqi": 301}, {"city": "Delhi", "aqi": -5}]'],
        ['{"city": "Delhi", "temp": 31, "wind": {"speed": 2, "deg": 90}}'],
        ['{"city": "Delhi", "temperature": {"value": 31}}'],
        ['{"city": "Delhi", "forecast": [{"day": "2026-11-27", "aqi": 280}]}'],
        ['{"city": "Delhi", "parameter": "pm25", "value": 57}'],
        ['{"place": "Delhi", "value": 57, "unit": "\u00b5g/m\u00b3"}'],
        ['{"topic": "air/Delhi/temperature", "payload": 21.5}'],
        ['{"s": {"state": "2050", "attributes": {"device_class": "power", "name": "Washer"}}}'],
        ['{"data": {"aqi": "-", "idx": 1437, "city": {"name": "Beijing"}}}'],
        ['{"city": "Delhi", "aqi": null, "snr": 9}'],
        ['{"event": "hello", "data": {"socket_id": 123.4, "activity_timeout": 120}}'],
        ['{"locationName": "Delhi", "serialno": "d3a1", "rco2": 500, "atmp": 21.5}'],
    ],
)
def test_probe_suggests_no_flags_if_all_is_read_or_nothing_is_an_index(programs, messages):
    with Sender(*messages) as feed:
        assert "to read" not in probe(programs, feed.url).stdout


@pytest.mark.parametrize(
    "flag, hint",
    [
        ("--feed.value-field=x", "--feed.value-field aqi"),
        ("--feed.items=/data", "--feed.items ''"),
        ("--feed.jq=.a", "--feed.jq ."),
        ("--feed.items=/data --feed.value-field=x", "--feed.items '' --feed.value-field aqi"),
    ],
)
def test_a_superfluous_or_wrong_flag_is_named_in_the_hint(start, programs, flag, hint):
    with Sender('[{"city": "Delhi", "aqi": 301}]') as feed:
        start.exporter("--feed.url", feed.url, *flag.split()).wait_for_line(f'hint="{hint}"')
        assert f"--feed.url {feed.url} {hint}\n" in probe(programs, feed.url, *flag.split()).stdout


@pytest.mark.parametrize(
    "flag, explanation",
    [
        ("--feed.city-field=station", "reading_time=28/11/2026 10:00"),
        ("--feed.city-field=city", "found no flags"),
    ],
)
def test_probe_suggests_no_flags_that_leave_a_time_unreadable(programs, flag, explanation):
    message = '[{"station": "Delhi", "aqi": 120, "updated": "28/11/2026 10:00"}]'
    with Sender(message) as feed:
        found = probe(programs, feed.url, "--feed.time-field=updated", flag).stdout
    assert "to read" not in found and explanation in found


HOSTILE = "\x1b]0;title\x07\x1b[2J\u202e\u2028\x00\x9b31m\r\n"


@pytest.mark.parametrize(
    "message",
    [
        HOSTILE + "x" * 100_000,
        json.dumps(HOSTILE * 10_000),
        json.dumps([{"city": "\u202eDelhi\u2028", "aqi": 301}]),
        json.dumps([{"city": "Delhi" + HOSTILE, "aqi": HOSTILE}] * 1000),
        json.dumps([{HOSTILE + str(number): HOSTILE for number in range(1000)}]),
        json.dumps({"type": HOSTILE, "data": {HOSTILE: {"name": "Delhi", "aqi": 301}}}),
        json.dumps({"error": HOSTILE * 100}),
        b"\xff\xfe" * 1000,
        "[" * 100_000,
    ],
    ids=["no JSON", "text", "city", "value", "fields", "names", "error", "bytes", "nesting"],
)
def test_probe_truncates_and_escapes_what_a_feed_sends(programs, message):
    with Sender(message, message, message) as feed:
        found = probe(programs, feed.url)
    assert found.stderr == "" and "message 3, " in found.stdout
    lines = found.stdout.split("\n")
    assert all(line.isprintable() for line in lines), found.stdout
    assert max(map(len, lines)) < 1200 and len(lines) < 30, found.stdout


def test_probe_waits_no_longer_than_its_time_out(programs):
    silent, talkative = Sender(), Sender("[]", "[]", "[]", "[]")
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        try:
            found = probe(programs, silent.url, "--timeout=100ms")
            assert (found.returncode, "no message arrived in time" in found.stdout) == (1, True)
            found = probe(programs, f"ws://127.0.0.1:{deaf.getsockname()[1]}/", "--timeout=100ms")
            reason = "no connection within 100ms: no response to the handshake"
            assert (found.returncode, found.stdout) == (1, f"not connected\nreason: {reason}\n")
            found = probe(programs, talkative.url, "--timeout=1h")
            assert "message 3, " in found.stdout and "message 4, " not in found.stdout
        finally:
            silent.stop()
            talkative.stop()
    found = probe(programs, silent.url, "--timeout=soon")
    assert found.returncode == 1 and "--timeout" in found.stderr
    assert len(found.stderr.splitlines()) == 1


@pytest.mark.parametrize("flags, scores", [((), []), (("--feed.jq", "."), ["1000"])])
def test_a_jq_program_has_a_replaceable_worker_that_the_oom_killer_prefers(
    start, python_feed, flags, scores
):
    exporter = start.reader(python_feed, *flags)
    python_feed.send([{"city": "Delhi", "aqi": 301}])
    exporter.wait_for_sample(metrics.CITIES, 1)
    # A thread may end before its file is read; cat continues with the others.
    found = subprocess.run(
        f"cat /proc/{exporter.pid}/task/*/children", shell=True, stdout=subprocess.PIPE, text=True
    )
    children = found.stdout.split()
    assert [
        pathlib.Path(f"/proc/{child}/oom_score_adj").read_text().strip() for child in children
    ] == scores
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


def test_the_first_rejected_element_is_logged_at_debug_level(start):
    with Sender('[{"city": "Pune", "aqi": 51}, {"city": "Delhi", "aqi": "57,3"}]') as feed:
        exporter = start.exporter("--feed.url", feed.url, "--log.level=debug")
        line = exporter.wait_for_line('msg="First rejected element"', 1)
        assert "reason=bad_value" in line and r'\"aqi\":\"57,3\"' in line


def test_a_rejected_message_of_more_than_a_mebibyte_is_explained(start):
    elements = [{"station": "x" * 100, "index": number % 500} for number in range(20_000)]
    with Sender(json.dumps(elements + [{"station": "Delhi", "index": "none"}])) as feed:
        exporter = start.exporter("--feed.url", feed.url)
        exporter.wait_for_line("--feed.city-field station")
        fixed = start.exporter(
            "--feed.url", feed.url, "--feed.city-field=station", "--feed.value-field=index"
        )
        fixed.wait_for_line("city=Delhi value=none")


def test_the_rejection_of_a_late_reading_is_explained(start):
    messages = [json.dumps({"city": "Delhi", "aqi": 301, "t": time.time() - s}) for s in (0, 60)]
    with Sender(*messages) as feed:
        exporter = start.exporter("--feed.url", feed.url, "--feed.time-field=t")
        line = exporter.wait_for_line("reason=bad_time")
        assert "city=Delhi value=301 reading_time=" in line
        assert 'err="older than the newest reading of the city"' in line


def test_a_field_name_of_a_megabyte_does_not_slow_the_explanation_of_a_rejection(start):
    """It would otherwise be examined again for each value and each plan."""
    inner = {f"s{i}": {"city": "c", **{f"aqi{j}": j for j in range(8)}} for i in range(180)}
    with Sender(json.dumps({"k" * 1_000_000: inner})) as feed:
        start.exporter("--feed.url", feed.url).wait_for_line("Readings rejected")


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


def pasted(text: str) -> list[str]:
    """The words that a shell makes of the hint in the text, copied unchanged."""
    hint = re.search(r"--feed\.jq \$?'[^']*'", text)[0]
    command = ["bash", "-c", f"printf '%s\\n' {hint}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_a_hint_can_be_pasted_into_a_shell(start, programs):
    """From the health path, and from the log in both formats."""
    feed = Sender('{"type": "aqi", "data": {"O\'Hare station": {"AQI": "AQI 301"}}}')
    in_json = programs.start(
        "air-quality-exporter", "--feed.url", feed.url, "--log.format=json",
        "--web.listen-address=127.0.0.1:0",
    )
    try:
        exporter = start.exporter("--feed.url", feed.url)
        texts = []
        for program in (exporter, in_json):
            program.wait_for_line("--feed.jq")
            texts += [line for line in program.errors if "--feed.jq" in line]
        texts.append(exporter.get("/-/ready").text)
        flag, jq_program = pasted(texts[0])
        assert (flag, "select(.type" in jq_program) == ("--feed.jq", True)
        assert all(pasted(text) == [flag, jq_program] for text in texts)
        start.exporter("--feed.url", feed.url, flag, jq_program).wait_for_sample(metrics.INDEX, 301)
    finally:
        feed.stop()
        assert in_json.stop() is None
