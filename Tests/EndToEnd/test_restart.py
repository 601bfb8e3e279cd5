"""What `--storage.file` brings back: the exporter killed, restarted, refused."""

import signal
import threading
import time

import pytest

from peers import WebSocketFeed
from waiting import wait_for


@pytest.fixture
def python_feed():
    feed = WebSocketFeed()
    yield feed
    feed.stop()


def test_a_restart_keeps_everything_with_its_times(start, python_feed, tmp_path):
    flags = ("--feed.url", python_feed.url, "--storage.file", str(tmp_path / "history.db"))
    first = start.exporter(*flags)
    python_feed.wait_for_client()
    for aqi in (40, 60, 45):
        python_feed.send([{"city": "Pune", "aqi": aqi}, {"city": "O'Hare \"N\" ☠", "aqi": aqi + 300}])
        first.wait_for_sample("airquality_index", aqi, city="Pune")
        time.sleep(0.002)  # Two points in one millisecond are one.
    before, page = first.history(), first.scrape()
    assert first.stop() is None
    second = start.exporter(*flags)
    after, restored = second.history(), second.scrape()
    assert after == before
    for name in (
        "airquality_index",
        "airquality_category",
        "airquality_category_direction",
        "airquality_category_changed_timestamp_seconds",
        "airquality_category_changes_total",
        "airquality_last_update_timestamp_seconds",
    ):
        assert restored.samples(name) == page.samples(name)
    # The first two points came at once, so a third waits for the interval although the process is new.
    wait_for(lambda: python_feed.clients, "the new connection")
    python_feed.send([{"city": "Pune", "aqi": 46}])
    second.wait_for_sample("airquality_index", 46, city="Pune")
    assert second.history()["points"] == before["points"]


def test_no_point_older_than_a_second_is_lost_by_a_kill(start, programs, python_feed, tmp_path):
    """Killed under load again and again; each point that was seen more than a second before is there once."""
    flags = (
        "--feed.url", python_feed.url, "--storage.file", str(tmp_path / "history.db"), "--history.interval", "20ms",
        "--history.capacity", "10000", "--feed.reconnect-max", "50ms", "--feed.reconnect-min", "10ms",
    )  # fmt: skip
    stop = threading.Event()
    sent = 0

    def load():
        nonlocal sent
        while not stop.is_set():
            sent += 1
            try:
                python_feed.send([{"city": f"City {number}", "aqi": sent % 500} for number in range(20)])
            except Exception:  # noqa: BLE001: the client was killed in the middle of it
                pass
            time.sleep(0.01)

    thread = threading.Thread(target=load)
    thread.start()
    known: dict[tuple[str, int], float] = {}
    try:
        for kill in range(6):
            exporter = programs.exporter(*flags)
            points = {(point["city"], point["time_ms"]): point["aqi"] for point in exporter.history()["points"]}
            lost = {key: aqi for key, aqi in known.items() if points.get(key) != aqi}
            assert not lost, f"{len(lost)} points are gone after kill {kill}: {sorted(lost)[:3]}"
            wait_for(lambda: exporter.scrape().value("airquality_exporter_feed_messages_total") > 20 + 7 * kill, "load")
            seen = exporter.history()["points"]
            # Whatever was seen now must be there after the kill, if a second passes before it.
            time.sleep(1.05)
            exporter.signal(signal.SIGKILL)
            exporter.wait()
            known |= {(point["city"], point["time_ms"]): point["aqi"] for point in seen}
    finally:
        stop.set()
        thread.join()
    assert not list(tmp_path.glob("*.damaged*"))
    assert len(known) > 100


def test_one_file_belongs_to_one_process(start, programs, python_feed, tmp_path):
    file = tmp_path / "history.db"
    start.exporter("--feed.url", python_feed.url, "--storage.file", str(file))
    ended = programs.run(
        "air-quality-exporter", "--feed.url", python_feed.url, "--storage.file", str(file),
        "--web.listen-address", "127.0.0.1:0",
    )  # fmt: skip
    assert ended.process.returncode != 0
    assert "another process has it open" in ended.errors[-1] and file.name in ended.errors[-1], ended.errors


def test_a_damaged_file_is_set_aside_and_said_once(start, python_feed, tmp_path):
    file = tmp_path / "history.db"
    file.write_bytes(b"this is no database" * 100)
    exporter = start.exporter("--feed.url", python_feed.url, "--storage.file", str(file))
    aside = list(tmp_path.glob("history.db.damaged-*"))
    assert len(aside) == 1 and aside[0].read_bytes().startswith(b"this is no database")
    assert sum("damaged" in line for line in exporter.errors) == 1
    python_feed.wait_for_client()
    python_feed.send([{"city": "Pune", "aqi": 7}])
    exporter.wait_for_sample("airquality_index", 7, city="Pune")
    exporter.wait_for_sample("airquality_exporter_storage_last_write_timestamp_seconds")


def test_a_directory_that_is_missing_leaves_the_exporter_in_memory(start, python_feed, tmp_path):
    file = tmp_path / "later" / "history.db"
    exporter = start.exporter("--feed.url", python_feed.url, "--storage.file", str(file))
    python_feed.wait_for_client()
    python_feed.send([{"city": "Pune", "aqi": 7}])
    exporter.wait_for_sample("airquality_index", 7, city="Pune")
    wait_for(lambda: exporter.scrape().value("airquality_exporter_storage_errors_total") >= 2, "failed writes counted")
    assert sum("cannot be written" in line for line in exporter.errors) == 1
    file.parent.mkdir()
    wait_for(lambda: any("written again" in line for line in exporter.errors), "the line that says it is written again")
    assert exporter.stop() is None
    again = start.exporter("--feed.url", python_feed.url, "--storage.file", str(file))
    assert [point["aqi"] for point in again.history()["points"]] == [7]
