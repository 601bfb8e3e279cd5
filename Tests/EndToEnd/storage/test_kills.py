"""What `--storage.file` restores after SIGKILL at any moment, under load."""

import http.client
import os
import random
import signal
import threading

from support import metrics
from support.ledger import Ledger
from support.load import Load, changing
from support.storage_files import stored_points
from support.waiting import wait_for


def test_no_written_point_is_lost_by_a_kill(programs, python_feed, tmp_path):
    """AIRQUALITY_KILLS sets the number of kills."""
    kills = int(os.environ.get("AIRQUALITY_KILLS", "10"))
    random_ = random.Random(7)
    ledger = Ledger(capacity=100)
    flags = (
        "--feed.url", python_feed.url,
        "--storage.file", str(tmp_path / "history.db"),
        "--history.interval", "50ms",
        "--history.capacity", "100",
        "--feed.reconnect-min", "10ms",
        "--feed.reconnect-max", "50ms",
    )
    with Load(python_feed, changing(cities=100), pause=0.01) as load:
        for kill in range(kills + 1):
            with load.rest:
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
        "\n"
        f"{kills} kills: {ledger.count:,} points seen, {ledger.kept:,} times one came back\n"
        "points lost that were older than the last write that was scraped: 0; younger ones: "
        f"{ledger.unwritten:,}\n"
        f"counters that had risen and began anew: {ledger.resets:,}; that went on from another "
        "value: 0"
    )
    assert ledger.kept > 50 * kills


def watch_until_killed(exporter, ledger: Ledger, seconds: float) -> None:
    """Watches the exporter until it is killed, after the given number of seconds."""
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


def test_a_category_change_survives_a_kill_and_a_reading_a_shutdown(start, python_feed, tmp_path):
    """After a kill, the category is that of the newest point. The last reading is not a point."""
    file = tmp_path / "history.db"
    flags = ("--feed.url", python_feed.url, "--storage.file", str(file), "--history.interval")
    first = start.exporter(*flags, "1ms")
    python_feed.wait_for_client()
    for count, aqi in enumerate((40, 45, 60), 1):
        python_feed.send([{"city": "Pune", "aqi": aqi}])
        wait_for(lambda count=count: stored_points(file) == count, "the point in the file")
    changed = first.scrape().value("airquality_category_changed_timestamp_seconds", city="Pune")
    first.kill()
    second = start.exporter(*flags, "1h")
    page = second.scrape()
    assert page.value(metrics.INDEX, city="Pune") == 60
    assert page.value("airquality_category", city="Pune") == 2
    assert page.value("airquality_category_direction", city="Pune") == -1
    assert page.value("airquality_category_changed_timestamp_seconds", city="Pune") == changed
    assert [point["aqi"] for point in second.history()["points"]] == [40, 45, 60]
    wait_for(lambda: python_feed.clients, "the new connection")
    python_feed.send([{"city": "Pune", "aqi": 61}])
    second.wait_for_sample(metrics.INDEX, 61, city="Pune")
    assert second.stop() is None
    third = start.exporter(*flags, "1h")
    assert third.scrape().value(metrics.INDEX, city="Pune") == 61
    assert [point["aqi"] for point in third.history()["points"]] == [40, 45, 60]
