"""Conversations: what `--feed.reply` sends, to whom and how much."""

import json
import os
import stat

import pytest
import yaml

from support import metrics
from support.conversations import Conversation
from support.memory import within
from support.peers import WebSocketFeed
from support.raw_feed import TEXT, RawFeed, frame
from support.waiting import wait_for

DELHI = [{"city": "Delhi", "aqi": 301}]


def test_subscriptions_come_first_and_a_file_may_have_the_program(start, tmp_path):
    file = tmp_path / "feeds.yml"
    with WebSocketFeed() as feed, WebSocketFeed() as other:
        entry = {"url": feed.url, "subscribe": "one", "reply": '"two", null, ["three"]'}
        file.write_text(yaml.dump([entry, {"url": other.url.replace("127.0.0.1", "localhost")}]))
        start.exporter("--feed.file", str(file))
        wait_for(lambda: len(feed.received) == 3, "the texts")
        assert feed.received == ["one", "two", '["three"]']
        assert other.received == []


def test_a_server_that_asks_without_end_gets_600_texts(start):
    with WebSocketFeed() as feed:
        reply = 'select(. == 1) | "a", "b"'
        exporter = start.exporter("--feed.url", feed.url, "--feed.reply", reply)
        feed.wait_for_client()
        for _ in range(1000):
            feed.send("1")
        feed.send(DELHI)
        exporter.wait_for_sample(metrics.INDEX, 301, 60, city="Delhi")
        wait_for(lambda: len(feed.received) == 600, "600 texts")
        lines = [line for line in exporter.errors if "600 texts" in line]
        assert len(lines) == 1 and "--feed.reply" in lines[0]
        assert len(feed.received) == 600 and len(feed.requests) == 1


def test_a_server_that_asks_without_end_and_takes_nothing_is_still_read(start):
    """Its client's kernel may hold what a minute allows, so the connection stays."""

    def ask(peer):
        peer.open()
        peer.send(frame(TEXT, b"1") * 1000)
        peer.send_reading(7)
        peer.read_nothing()

    with RawFeed(ask) as feed:
        reply = 'select(. == 1) | "x" * 60000'
        exporter = start.exporter("--feed.url", feed.url, "--feed.reply", reply)
        memory = exporter.peak_resident_bytes
        exporter.wait_for_sample(metrics.INDEX, 7, 60, city="Pune")
        page = exporter.scrape()
        assert page.value(metrics.MESSAGES) == 1001
        assert page.nonzero(metrics.DISCONNECTS, "reason") == {}
        assert exporter.count_lines("1 MiB") == 1
        assert exporter.peak_resident_bytes - memory < within(32)
        assert len(feed.peers) == 1


def test_an_error_sends_nothing_and_is_logged_once(start):
    program = 'select(. == 1) | range(17) | "secret-\\(.)"'
    with WebSocketFeed() as feed:
        exporter = start.exporter("--feed.url", feed.url, "--feed.reply", program)
        feed.wait_for_client()
        feed.send("1")
        feed.send("1")
        feed.send(DELHI)
        exporter.wait_for_sample(metrics.INDEX, 301, 60, city="Delhi")
        assert feed.received == []
        lines = [line for line in exporter.errors if "Nothing is sent" in line]
        assert len(lines) == 1, exporter.errors
        assert "more than 16 texts or 64 KiB" in lines[0] and "secret" not in lines[0]


@pytest.mark.parametrize(
    "program, words",
    [
        ("secret-token", "a name is not defined"),
        ('"secret" | input', "input cannot be used: each message is an input of its own"),
        ('"secret', "syntax error"),
        ("$secret", "a name is not defined"),
    ],
)
def test_a_bad_program_is_refused_without_its_text(programs, program, words):
    flags = "--feed.url", "ws://127.0.0.1:1/", "--feed.reply", program
    line = programs.rejection("air-quality-exporter", *flags)
    assert "--feed.reply" in line and words in line and "secret" not in line, line


def test_feeds_on_two_hosts_do_not_share_a_reply(programs):
    flags = "--feed.url", "ws://127.0.0.1:1/", "--feed.url", "ws://localhost:1/"
    line = programs.rejection("air-quality-exporter", *flags, "--feed.reply", '"x"')
    assert "--feed.reply: expected feeds on one host" in line


def test_one_process_runs_both_programs_and_none_without_them(start):
    def children(exporter) -> list[str]:
        pid = exporter.process.pid
        tasks = os.listdir(f"/proc/{pid}/task")
        return [c for t in tasks for c in open(f"/proc/{pid}/task/{t}/children").read().split()]

    with WebSocketFeed() as feed:
        flags = "--feed.url", feed.url
        both = start.exporter(*flags, "--feed.jq", ".", "--feed.reply", "empty")
        none = start.exporter(*flags)
        feed.wait_for_client(2)
        feed.send("no JSON")
        feed.send(DELHI)
        for exporter in both, none:
            exporter.wait_for_sample(metrics.INDEX, 301, city="Delhi")
        assert len(children(both)) == 1
        assert children(none) == []


def test_record_writes_what_it_sends_to_a_private_file(start, tmp_path):
    output = tmp_path / "recording"
    output.write_text("")
    output.chmod(0o644)
    with Conversation(("hello", []), ("begin", [DELHI])) as feed:
        flags = "--reply", 'select(. == null) | "begin"', "--subscribe", "hello"
        flags += "--output", str(output)
        recorder = start.program("air-quality-feed", "record", feed.url, *flags)
        wait_for(lambda: output.read_text().count("\n") == 3, "three lines")
        recorder.stop()
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    assert [line.get("out") for line in lines] == ["hello", "begin", None]
    assert stat.S_IMODE(output.stat().st_mode) == 0o600
    replay = start.feed("replay", str(output))
    exporter = start.exporter("--feed.url", replay.url)
    exporter.wait_for_sample(metrics.INDEX, 301, city="Delhi")
