"""`air-quality-feed record` with the connection flags that it shares with the exporter."""

import json
import os

import pytest

from support.peers import WebSocketFeed
from support.waiting import wait_for


def test_a_feed_with_a_private_authority_a_token_and_a_subscription_is_recorded(
    start, contexts, authority, tmp_path
):
    headers, output = tmp_path / "headers", tmp_path / "recording"
    headers.write_text("Authorization: Bearer secret\n")
    with WebSocketFeed(ssl=contexts["good"]) as feed:
        start.program(
            "air-quality-feed", "record", f"wss://localhost:{feed.port}/", f"--output={output}",
            f"--ca-file={authority.file}", f"--header-file={headers}", "--subscribe=hello",
            "--idle-timeout=1m", "--max-message-bytes=1KiB",
        )
        feed.wait_for_client()
        wait_for(lambda: feed.received == ["hello"], "the subscription")
        assert feed.requests[0].headers["Authorization"] == "Bearer secret"
        feed.send([{"city": "x" * 2000, "aqi": 1}])
        feed.send([{"city": "Pune", "aqi": 7}])
        wait_for(lambda: "Pune" in output.read_text(), "the message")
        sent, received = map(json.loads, output.read_text().splitlines())
        assert sent["out"] == "hello" and "Pune" in received["message"]
        # Texts that were sent may be secret.
        assert output.stat().st_mode & 0o777 == 0o600


def test_a_feed_cannot_fill_the_log_of_a_recording(start, python_feed, tmp_path):
    output = tmp_path / "recording"
    program = start.program(
        "air-quality-feed", "record", python_feed.url, f"--output={output}",
        "--max-message-bytes=1KiB",
    )
    python_feed.wait_for_client()
    for _ in range(50):
        python_feed.send(b"\xff")
        python_feed.send("x" * 2000)
    python_feed.send([{"city": "Pune", "aqi": 7}])
    wait_for(lambda: len(output.read_text().splitlines()) == 1, "what comes after them")
    # The log comes through a pipe, maybe later than the file.
    assert program.stop() is None
    lines = [line for line in program.errors if "leaving out" in line]
    assert len(lines) == 2, lines


@pytest.mark.parametrize("is_read", [False, True])
def test_a_pipe_as_output_is_rejected_with_one_line(programs, tmp_path, is_read):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK) if is_read else None
    command = ("air-quality-feed", "record", "ws://127.0.0.1:1/", f"--output={pipe}")
    assert programs.rejection(*command, seconds=10) == (
        f'air-quality-feed: --output "{pipe}": expected a file to append to: '
        f"cannot write {pipe}: it is not a regular file"
    )
    if reading is not None:
        os.close(reading)
