"""What `--storage.file` brings back after SIGKILL at any moment, under load."""

import http.client
import os
import random
import signal
import threading

from support.ledger import Ledger
from support.load import Load


def test_no_point_that_was_written_is_lost_by_a_kill(programs, python_feed, tmp_path):
    """AIRQUALITY_KILLS says how often."""
    kills = int(os.environ.get("AIRQUALITY_KILLS", "10"))
    random_ = random.Random(7)
    ledger = Ledger(capacity=100)
    flags = (
        "--feed.url", python_feed.url, "--storage.file", str(tmp_path / "history.db"), "--history.interval", "50ms",
        "--history.capacity", "100", "--feed.reconnect-min", "10ms", "--feed.reconnect-max", "50ms",
    )  # fmt: skip
    with Load(python_feed, cities=100, pause=0.01) as load:
        for kill in range(kills + 1):
            with load.rest():
                exporter = programs.exporter(*flags)
                findings = ledger.check(exporter.history()["points"], exporter.scrape())
            try:
                assert not findings, f"after kill {kill}: {findings}"
                assert not exporter.count_lines("damaged"), exporter.errors
                watch_until_killed(exporter, ledger, random_.uniform(0.05, 2.5))
            finally:
                if exporter.is_running:
                    exporter.kill()
    assert not list(tmp_path.glob("*.damaged*"))
    print(
        f"\n{kills} kills: {ledger.count:,} points seen, {ledger.kept:,} times one came back\n"
        f"points lost that were older than the last write that was scraped: 0; younger ones: {ledger.unwritten:,}\n"
        f"counters that had risen and began anew: {ledger.resets:,}; that went on from another value: 0"
    )
    assert ledger.kept > 50 * kills


def watch_until_killed(exporter, ledger: Ledger, seconds: float) -> None:
    """Looks at the exporter until it is killed, after that many seconds."""
    timer = threading.Timer(seconds, exporter.signal, [signal.SIGKILL])
    timer.start()
    try:
        while True:
            ledger.see(exporter.history(since=ledger.since)["points"])
            ledger.see_page(exporter.scrape())
    except (OSError, http.client.HTTPException):
        pass
    timer.join()
    assert exporter.wait() == -signal.SIGKILL, exporter.errors
