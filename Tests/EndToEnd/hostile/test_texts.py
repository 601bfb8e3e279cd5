"""Messages that are no JSON, for the programs of `--feed.jq` and `--feed.reply`."""

import contextlib
import os
import pathlib
import signal

from support import metrics
from support.peers import WebSocketFeed
from support.recipes import recipe
from support.waiting import wait_for

DELHI = [{"city": "Delhi", "aqi": 301}]
MIB = 1 << 20


def workers(exporter) -> list[int]:
    found = []
    for task in pathlib.Path(f"/proc/{exporter.process.pid}/task").iterdir():
        # A thread may end meanwhile.
        with contextlib.suppress(OSError):
            found += [int(child) for child in (task / "children").read_text().split()]
    return found


def test_four_mebibytes_of_text_reach_both_programs(start):
    with WebSocketFeed(max_size=None, ping_interval=None) as feed:
        flags = "--feed.jq", 'select(type == "string") | {city: "Length", aqi: (length / 4096)}'
        flags += "--feed.reply", 'select(type == "string") | "\\(length)"'
        exporter = start.reader(feed, *flags)
        feed.send("a[" + "x" * (4 * MIB - 2))
        exporter.wait_for_sample(metrics.INDEX, 1024, 120, city="Length")
        wait_for(lambda: feed.received == [str(4 * MIB)], "the reply")
        assert exporter.scrape().nonzero(metrics.REJECTED, "reason") == {}


def test_a_million_times_nan_is_one_message(start):
    with WebSocketFeed(ping_interval=None) as feed:
        exporter = start.reader(feed)
        feed.send('[{"city":"Delhi","aqi":301,"x":[' + "NaN," * (MIB - 20) + "1]}]")
        exporter.wait_for_sample(metrics.INDEX, 301, 120, city="Delhi")
        feed.send("NaN " * MIB)
        exporter.wait_for_sample(metrics.REJECTED, 1, 120, reason="not_an_array")
        feed.send("1 " * (2 * MIB))
        exporter.wait_for_sample(metrics.REJECTED, 2, 120, reason="not_an_array")


def test_nan_in_a_text_that_the_program_parses_costs_no_other_city(start):
    with WebSocketFeed() as feed:
        exporter = start.reader(feed, "--feed.jq", recipe("Socket.IO")["jq"])
        feed.send(
            '42["aqi",[{"city":"Delhi","aqi":NaN,"pm25":9},{"city":"Pune","aqi":7,"pm25":NaN}]]'
        )
        exporter.wait_for_sample(metrics.INDEX, 7, city="Pune")
        page = exporter.scrape()
        assert page.by(metrics.INDEX, "city") == {"Pune": 7}
        assert page.nonzero(metrics.REJECTED, "reason") == {"no_value": 1}


def test_a_stopped_worker_does_not_hold_up_the_end(start):
    with WebSocketFeed() as feed:
        exporter = start.reader(feed, "--feed.jq", ".", "--feed.reply", "empty")
        feed.send(DELHI)
        exporter.wait_for_sample(metrics.INDEX, 301, city="Delhi")
        (worker,) = workers(exporter)
        os.kill(worker, signal.SIGSTOP)
        feed.send(DELHI)
        feed.send(DELHI)
        exporter.process.send_signal(signal.SIGTERM)
        assert exporter.process.wait(5) == 0


def test_an_ignored_child_signal_is_reset(start):
    """The number of a child that is not awaited may soon be that of a foreign process."""
    ignoring = "sh", "-c", 'trap "" CHLD; exec "$0" "$@"'
    with WebSocketFeed() as feed:
        exporter = start.reader(feed, "--feed.jq", ".", launcher=ignoring)
        feed.send(DELHI)
        exporter.wait_for_sample(metrics.INDEX, 301, city="Delhi")
        (worker,) = workers(exporter)
        os.kill(worker, signal.SIGKILL)
        status = pathlib.Path(f"/proc/{worker}/status")
        wait_for(lambda: "Z (zombie)" in status.read_text(), "a zombie, which keeps its number")
