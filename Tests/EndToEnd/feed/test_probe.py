"""`probe`: what a feed sends, what is read, and candidates that can be pasted into a shell."""

import json
import re
import signal
import socket
import subprocess
import time

import pytest

from support import metrics
from support.memory import IS_SANITIZED
from support.shapes import Sender, rows

COMMAND = "air-quality-exporter --feed.url "


def probe(programs, url: str, *flags: str) -> subprocess.CompletedProcess:
    if "--timeout" not in "".join(flags):
        flags += ("--timeout=10s" if IS_SANITIZED else "--timeout=1s",)
    return subprocess.run(
        [programs.folder / "air-quality-exporter", "probe", url, *flags],
        capture_output=True, text=True, timeout=60,
    )


def candidates(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(COMMAND)]


def words(line: str) -> list[str]:
    """The words that a POSIX shell makes of a command line."""
    command = ["sh", "-c", f"set -- {line}; printf '%s\\n' \"$@\""]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize(
    "message", [pytest.param(row.values[0], id=row.id) for row in rows() if row.values[1]]
)
def test_the_first_candidate_reads_the_message_when_pasted_into_a_shell(start, programs, message):
    with Sender(message) as feed:
        found = probe(programs, feed.url)
        assert found.returncode == 1, found.stdout
        command = words(candidates(found.stdout)[0])
        assert command[:3] == ["air-quality-exporter", "--feed.url", feed.url]
        exporter = start.exporter(*command[1:])
        exporter.wait_for_sample(metrics.INDEX, 301, city="Delhi")


def test_what_is_read_is_shown_as_a_table_with_the_scale(programs):
    element = {
        "city": "Delhi", "aqi": 301, "time": 1795236580, "pollutants": {"pm25": 125},
        "place": {"lat": 28.6, "lon": 77.2, "country": "IN"},
    }
    with Sender(*[json.dumps([element])] * 4) as feed:
        begin = time.monotonic()
        found = probe(programs, feed.url, "--timeout=50s")
        assert time.monotonic() - begin < 40, "it waits although three messages have readings"
    assert found.returncode == 0 and not candidates(found.stdout)
    header, row = re.search(r"messages:\n(.*)\n(.*)\n", found.stdout).groups()
    assert re.split(r" {2,}", header.strip()) == [
        "city", "aqi", "category (india)", "time", "pollutants", "place",
    ]
    assert re.split(r" {2,}", row.strip()) == [
        "Delhi", "301.0", "Very Poor", "2026-11-21T04:49:40.000Z", "pm2_5 125.0", "IN 28.6 77.2",
    ]
    with Sender(json.dumps([element])) as feed:
        assert "Hazardous" in probe(programs, feed.url, "--aqi.scale=us").stdout


def test_greetings_do_not_count_and_are_never_candidates(programs):
    greetings = ['{"type":"welcome","session":9}', '{"type":"ping","message":25}', '{"ok":true}']
    with Sender(*greetings * 3, '{"name":"Delhi","aqi":301}') as feed:
        found = probe(programs, feed.url)
    assert "3 × 30 bytes" in found.stdout and "1 × 27 bytes" not in found.stdout
    assert len(candidates(found.stdout)) == 1
    assert "name" in words(candidates(found.stdout)[0])[3]
    with Sender(*greetings) as feed:
        found = probe(programs, feed.url)
    assert "found nothing that would read them" in found.stdout and not candidates(found.stdout)


def test_a_candidate_repeats_the_flags_of_the_connection_without_secrets(programs):
    with Sender('{"data": {"city": "Delhi", "aqi": 301}}') as feed:
        command = [programs.folder / "air-quality-exporter", "--feed.connect-timeout", "5s"]
        command += ["probe"]
        command += ["--timeout=1s", "--feed.header", "A: secret", "--", feed.url]
        found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert words(candidates(found.stdout)[0])[3:] == [
        "--feed.header=…", "--feed.connect-timeout=5s", "--feed.city-field=/data/city",
        "--feed.value-field=/data/aqi",
    ]
    assert "secret" not in found.stdout


def test_a_field_named_for_the_us_adds_its_scale(programs):
    with Sender('[{"name": "Delhi", "aqi_us": 301}]') as feed:
        found = probe(programs, feed.url)
    assert "--aqi.scale=us" in words(candidates(found.stdout)[0]) and "Hazardous" in found.stdout


@pytest.mark.parametrize("name", ["a'b", "$(touch /tmp/x)", "`id`", 'a"b\\', "a;b|c&d", "-x"])
def test_no_name_ends_a_quotation(start, programs, name):
    message = json.dumps([{"station": {name: "Delhi"}, name + " aqi": 301, "aqi": 301}])
    with Sender(message) as feed:
        for line in candidates(probe(programs, feed.url).stdout):
            command = words(line)
            assert command[:3] == ["air-quality-exporter", "--feed.url", feed.url]
            assert all(word.startswith("--") for word in command[3:]), line


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
        json.dumps([{"name": "Delhi", "aqi" + HOSTILE: 301}]),
        b"\xff\xfe" * 1000,
        "[" * 100_000,
    ],
    ids=[
        "no JSON", "text", "city", "value", "fields", "names", "error", "member", "bytes",
        "nesting",
    ],
)
def test_what_a_feed_sends_is_truncated_and_escaped(programs, message):
    with Sender(message, message, message) as feed:
        found = probe(programs, feed.url)
    assert found.stderr == "" and "3 × " in found.stdout
    lines = found.stdout.split("\n")
    assert all(line.isprintable() for line in lines), found.stdout
    assert max(map(len, lines)) < 1200 and len(lines) < 60, found.stdout


LARGE = {
    "two thousand values of 300 texts": json.dumps(
        {f"s{i}": {"name": "x" * 50, **{f"aqi{j}": str(j) for j in range(10)}} for i in range(300)}
    ),
    "JSON in a text of 4 MB": json.dumps(json.dumps([{"n": i, "v": i} for i in range(150_000)])),
    "a hundred thousand members": json.dumps({f"k{i}": {"aqi": i % 500} for i in range(100_000)}),
    "rows": json.dumps([[f"c{i}", i % 500, i] for i in range(100_000)]),
    "a nest": "[" * 400 + "]" * 400,
    "a long name": json.dumps({"k" * 1_000_000: {"city": "c", "aqi": 3}}),
}


@pytest.mark.parametrize("message", LARGE.values(), ids=LARGE)
def test_a_large_message_holds_up_neither_the_candidates_nor_the_end(programs, message):
    with Sender(message) as feed:
        begin = time.monotonic()
        found = probe(programs, feed.url)
        assert found.stderr == "" and "connected to" in found.stdout
        assert time.monotonic() - begin < 50
        command = [programs.folder / "air-quality-exporter", "probe", feed.url, "--timeout=1h"]
        waiting = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        feed.wait_for_client()
        waiting.terminate()
        assert waiting.wait(timeout=30) == -signal.SIGTERM


def test_it_waits_no_longer_than_its_time_out(programs):
    silent = Sender()
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        try:
            found = probe(programs, silent.url, "--timeout=100ms")
            assert found.returncode == 1 and "no message arrived in time" in found.stdout
            found = probe(programs, f"ws://127.0.0.1:{deaf.getsockname()[1]}/", "--timeout=100ms")
            reason = "no connection within 100ms: no response to the handshake"
            assert (found.returncode, found.stdout) == (1, f"not connected\nreason: {reason}\n")
        finally:
            silent.stop()
    found = probe(programs, silent.url, "--timeout=soon")
    assert found.returncode == 1 and "--timeout" in found.stderr
    assert len(found.stderr.splitlines()) == 1
