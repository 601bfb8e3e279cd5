"""What `--storage.file` restores after a clean shutdown."""

import contextlib
import sqlite3
import time

from support import metrics
from support.waiting import wait_for


def test_a_restart_restores_the_history_and_the_metrics(start, programs, python_feed, tmp_path):
    flags = ("--feed.url", python_feed.url, "--storage.file", str(tmp_path / "history.db"))
    first = start.exporter(*flags)
    python_feed.wait_for_client()
    for aqi in (40, 60, 45):
        python_feed.send(
            [{"city": "Pune", "aqi": aqi}, {"city": 'O\'Hare "N" ☠', "aqi": aqi + 300}]
        )
        first.wait_for_sample(metrics.INDEX, aqi, city="Pune")
        time.sleep(0.002)  # Two points in one millisecond count as one.
    before, page = first.history(), first.scrape()
    assert first.stop() is None
    # A start that fails after opening the file removes nothing from it, whatever its flags.
    narrower = ("--city.limit=1", f"--web.listen-address=127.0.0.1:{python_feed.port}")
    failed = programs.run("air-quality-exporter", *flags, *narrower)
    assert failed.wait() == 1
    second = start.exporter(*flags)
    after, restored = second.history(), second.scrape()
    assert after == before
    families = "index category category_direction category_changed_timestamp_seconds"
    for name in (*families.split(), "category_changes_total", "last_update_timestamp_seconds"):
        name = f"airquality_{name}"
        assert page.samples(name) and restored.samples(name) == page.samples(name)
    # The first two points came in quick succession, so a third waits for the interval, even in a
    # new process.
    wait_for(lambda: python_feed.clients, "the new connection")
    python_feed.send([{"city": "Pune", "aqi": 46}])
    second.wait_for_sample(metrics.INDEX, 46, city="Pune")
    assert second.history()["points"] == before["points"]


def test_feed_and_place_of_a_city_are_there_before_the_feed_sends_it_again(
    start, python_feed, tmp_path
):
    flags = ("--feed.name", "stations", "--storage.file", str(tmp_path / "history.db"))
    first = start.reader(python_feed, *flags)
    place = {"country": "IN", "latitude": 18.52, "longitude": 73.86}
    python_feed.send([{"city": "Pune", "aqi": 7, "place": place}, {"city": "Goa", "aqi": 8}])
    first.wait_for_sample(metrics.INDEX, 8, city="Goa")
    before = first.scrape().samples("airquality_city_info")
    info = {"feed": "stations", "country": "IN", "latitude": "18.52", "longitude": "73.86"}
    assert first.scrape().value("airquality_city_info", city="Pune", **info) == 1
    assert first.stop() is None
    second = start.exporter("--feed.url", python_feed.url, *flags)
    assert second.scrape().samples("airquality_city_info") == before


def test_a_stop_keeps_the_last_reading_of_a_window_that_is_over(start, python_feed, tmp_path):
    keep = ("--history.keep", "last", "--history.interval", "1h", "--feed.time-field", "time")
    flags = ("--storage.file", str(tmp_path / "history.db"), *keep)
    first = start.reader(python_feed, *flags)
    python_feed.send([{"city": "Pune", "aqi": 7, "time": time.time() - 7200}])
    first.wait_for_sample(metrics.INDEX, 7, city="Pune")
    assert first.stop() is None
    second = start.exporter("--feed.url", python_feed.url, *flags)
    assert [point["aqi"] for point in second.history()["points"]] == [7]


def test_the_time_between_stop_and_start_does_not_count_for_expiry(start, python_feed, tmp_path):
    file = tmp_path / "history.db"
    flags = ("--storage.file", str(file), "--city.expire-after", "1h")
    first = start.reader(python_feed, *flags)
    python_feed.send([{"city": city, "aqi": 7} for city in ("Old", "Young")])
    first.wait_for_sample(metrics.INDEX, 7, city="Young")
    assert first.stop() is None
    # As if an hour less three seconds lay between them; the day of the stop does not count.
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE city SET received_ms = received_ms - 86400000")
        earlier = "UPDATE city SET received_ms = received_ms - 3597000 WHERE name = 'Old'"
        assert database.execute(earlier).rowcount == 1
    second = start.exporter("--feed.url", python_feed.url, *flags)
    second.wait_for_sample("airquality_exporter_cities_expired_total", 1)
    assert second.scrape().by(metrics.INDEX, "city") == {"Young": 7}
    assert second.get("/-/ready").status == 503
    assert {point["city"] for point in second.history()["points"]} == {"Young"}
    assert second.stop() is None
    with contextlib.closing(sqlite3.connect(file)) as database:
        assert database.execute("SELECT name FROM city").fetchall() == [("Young",)]
        assert database.execute("SELECT count(*) FROM reading").fetchone() == (1,)
