"""air-quality-feed as a server and as a client of third-party WebSocket peers."""

import contextlib
import json
import pathlib
import re
import resource
import signal
import socket
import subprocess
import time

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from support import raw_feed
from support.peers import WebSocketFeed
from support.waiting import wait_for


def messages_until_closed(client):
    messages = []
    while True:
        try:
            messages.append(client.recv(30))
        except ConnectionClosed as closed:
            return messages, closed.rcvd.code


def test_a_feed_started_with_nohup_does_not_block_sighup(start):
    feed = start.feed("simulate", launcher=("nohup",))
    blocked = re.search(r"SigBlk:\s*(\w+)", pathlib.Path(f"/proc/{feed.pid}/status").read_text())
    assert int(blocked[1], 16) & 1 << signal.SIGHUP - 1 == 0


def test_clients_beyond_the_limit_of_open_files_wait_without_a_busy_loop(start):
    flags = ("--interval=100ms", "--cities=1", "--coverage=1")
    feed = start.feed("simulate", *flags, launcher=("prlimit", "--nofile=200:200"))
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(connect(feed.url))
        # One address may have half of the places.
        clients = [
            stack.enter_context(raw_feed.connect(feed.url, source=f"127.0.0.{2 + number // 36}"))
            for number in range(250)
        ]
        # 128 of the 200 files are reserved for the rest of the process.
        for client in clients[:71]:
            assert client.recv(12) == b"HTTP/1.1 101"
        before, began = feed.processor_seconds, time.monotonic()
        for _ in range(10):
            first.recv(30)
        assert feed.processor_seconds - before < (time.monotonic() - began) / 2
        clients[0].close()
        assert clients[71].recv(12) == b"HTTP/1.1 101"


def test_the_first_two_steps_of_the_simulation_are_an_interval_apart(start):
    feed = start.feed("simulate", "--interval", "3s")
    time.sleep(3.5)  # longer than the interval, without a client
    with connect(feed.url) as client:
        assert client.recv(30)
        with pytest.raises(TimeoutError):
            client.recv(1)


def test_sigterm_closes_connections_with_status_1001(start):
    feed = start.feed("simulate", "--interval", "10ms")
    with connect(feed.url) as client:
        client.recv(30)
        feed.signal(signal.SIGTERM)
        _, status = messages_until_closed(client)
    assert status == 1001
    assert feed.wait() == 0


def test_replay_once_sends_each_row_and_closes_with_status_1000(start, tmp_path):
    recording = tmp_path / "days.csv"
    recording.write_text(
        'AQI,Date,City\n98,2019-10-01,Delhi\n,2019-10-01,Pune\n54.5,2019-10-02,"Agra, U.P."\n'
    )
    feed = start.feed("replay", str(recording), "--once", "--interval", "10ms")
    with connect(feed.url) as client:
        messages, status = messages_until_closed(client)
    assert messages == ['[{"city":"Delhi","aqi":98}]', '[{"city":"Agra, U.P.","aqi":54.5}]']
    assert status == 1000
    assert feed.wait() == 0


def records(file: pathlib.Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text().split("\n")[:-1]]


def recorded(file: pathlib.Path) -> list[str]:
    return [record["message"] for record in records(file)]


def test_a_recording_holds_the_text_and_arrival_time_of_each_message(start, python_feed, tmp_path):
    output = tmp_path / "recording.jsonl"
    recorder = start.program("air-quality-feed", "record", python_feed.url, "--output", str(output))
    python_feed.wait_for_client()
    texts = [
        '[{"city":"Pune","aqi":1.5}]',
        "\x00\x01",
        "not JSON",
        'दिल्ली \U0001f600 "\\\t\n\x00\x7f\u2028',
        "",
    ]
    before = time.time_ns() // 1_000_000
    python_feed.send(texts[0])
    # A binary message is read like a text message.
    python_feed.send(texts[1].encode())
    for text in texts[2:]:
        python_feed.send(text)
    wait_for(lambda: output.read_text().count("\n") == 5, "five lines")
    after = time.time_ns() // 1_000_000
    assert [list(record) for record in records(output)] == [["time_ms", "message"]] * 5
    assert recorded(output) == texts
    times = [record["time_ms"] for record in records(output)]
    assert before <= times[0] and times[-1] <= after and times == sorted(times)
    recorder.stop()
    assert recorder.messages[1:] == []


def test_a_recording_continues_after_the_feed_returns(start, tmp_path):
    output = tmp_path / "recording.jsonl"
    feed = WebSocketFeed()
    start.program("air-quality-feed", "record", feed.url, "--output", str(output))
    feed.wait_for_client()
    feed.send("[1]")
    wait_for(lambda: output.read_text().count("\n") == 1, "the first line")
    port = feed.port
    feed.stop()
    with WebSocketFeed(port) as feed:
        feed.wait_for_client()
        feed.send("[2]")
        wait_for(lambda: output.read_text().count("\n") == 2, "the second line")
    assert recorded(output) == ["[1]", "[2]"]


def test_a_line_that_does_not_fit_is_removed_completely(programs, python_feed, tmp_path):
    output = tmp_path / "recording.jsonl"
    # Python ignores SIGXFSZ, and so does the child: a write beyond the limit is an error.
    command = [programs.folder / "air-quality-feed", "record", python_feed.url, "--output", output]
    with subprocess.Popen(
        command, restore_signals=False, stderr=subprocess.PIPE, text=True
    ) as recorder:
        try:
            python_feed.wait_for_client()
            resource.prlimit(recorder.pid, resource.RLIMIT_FSIZE, (100, 100))
            # The third does not fit and ends the recorder; a fourth might find the connection
            # closed.
            for number in range(3):
                python_feed.send(f"[{number}]")
            _, errors = recorder.communicate(timeout=30)
        finally:
            recorder.kill()
    assert recorder.returncode == 1
    assert errors.splitlines()[-1] == f"air-quality-feed: cannot write {output}: File too large"
    assert recorded(output) == ["[0]", "[1]"]
    assert output.read_text().endswith("\n")


def test_a_recording_is_replayed_with_its_messages_and_gaps(start, python_feed, tmp_path):
    file = tmp_path / "recording.ndjson"
    recorder = start.program("air-quality-feed", "record", python_feed.url, "--output", str(file))
    python_feed.wait_for_client()
    messages = [
        '[{"city": "Pune", "aqi": 1}]',
        "not JSON",
        '[{"city": "Pune", "aqi": 2},\n {"city": "Delhi", "aqi": 3}]',
    ]
    for number, text in enumerate(messages, 1):
        python_feed.send(text)
        wait_for(lambda: len(records(file)) == number, f"line {number}")
        # This waits for nothing; it makes the gaps that are to be replayed.
        time.sleep(0.3)
    assert recorder.stop() is None
    times = [record["time_ms"] / 1000 for record in records(file)]

    replay = start.feed("replay", str(file), "--once")
    began = time.monotonic()
    with connect(replay.url) as client:
        replayed = [(client.recv(30), time.monotonic()) for _ in messages]
    assert [text for text, _ in replayed] == messages
    # The replay begins with its first client, and no message comes early.
    for (_, received), recorded in zip(replayed, times):
        assert received - began >= recorded - times[0] - 0.001
    assert replay.wait() == 0


def test_systemd_is_notified_of_readiness_liveness_and_shutdown(start, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(30)
        feed = start.program(
            "air-quality-feed", "simulate", "--listen=127.0.0.1:0",
            environment={"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "400000"})
        assert listening.recv(4096) == b"READY=1"
        for _ in range(4):
            assert listening.recv(4096) == b"WATCHDOG=1"
        feed.signal(signal.SIGTERM)
        while (message := listening.recv(4096)) == b"WATCHDOG=1":
            pass
        assert message == b"STOPPING=1"
        assert feed.wait() == 0


def test_a_simulation_says_what_it_is(start):
    with connect(start.feed("simulate").url) as client:
        assert client.response.headers["Air-Quality-Source"] == "simulated; kind=simulation"


def test_lines_of_standard_input_are_a_feed_until_they_end(start, tmp_path):
    (tmp_path / "lines").write_text('{"a":1}\r\n42\n\nlast')
    launcher = ("sh", "-c", 'exec "$@" <"$0"', str(tmp_path / "lines"))
    feed = start.feed("replay", "-", launcher=launcher)
    with connect(feed.url) as client:
        assert messages_until_closed(client) == (['{"a":1}\r', "42", "last"], 1000)
    assert (feed.wait(), feed.errors) == (0, [])


@pytest.mark.parametrize("flag", ["--speed=2", "--interval=1s"])
def test_flags_about_a_file_are_rejected_for_standard_input(programs, flag):
    line = programs.rejection("air-quality-feed", "replay", "-", flag)
    assert "expected a file with it" in line
