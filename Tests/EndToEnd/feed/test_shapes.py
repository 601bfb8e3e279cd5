"""Shapes of messages: the README's flags read them, and `probe` shows what a feed sends."""

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


def test_the_rejection_of_a_late_reading_is_explained(start):
    messages = [json.dumps({"city": "Delhi", "aqi": 301, "t": time.time() - s}) for s in (0, 60)]
    with Sender(*messages) as feed:
        exporter = start.exporter("--feed.url", feed.url, "--feed.time-field=t")
        line = exporter.wait_for_line("reason=bad_time")
        assert "city=Delhi value=301" in line
        assert 'err="older than the newest reading of the city"' in line


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
