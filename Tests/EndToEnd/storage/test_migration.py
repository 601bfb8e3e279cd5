"""Files of the first version, which sorted points by their city."""

import contextlib
import sqlite3

from support.storage_files import NOW, first_version
from support.waiting import wait_for


def test_a_file_of_the_first_version_is_taken_over(start, python_feed, tmp_path):
    file = tmp_path / "history.db"
    first_version(file, cities=10, points=25)
    flags = ("--feed.url", python_feed.url, "--storage.file", str(file), "--city.expire-after", "0")
    first = start.exporter(*flags)
    before = first.history()["points"]
    assert len(before) == 250 and before[-1]["time_ms"] == NOW
    python_feed.wait_for_client()
    python_feed.send_cities(7, 10)
    wait_for(lambda: first.history()["points"][-1]["aqi"] == 7, "the new points")
    after = first.history()["points"]
    assert len(after) == 250
    assert first.stop() is None
    second = start.exporter(*flags)
    assert second.history()["points"] == after
    assert second.stop() is None
    with contextlib.closing(sqlite3.connect(file)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (3,)
        assert database.execute("SELECT count(*) FROM reading WHERE kept").fetchone() == (250,)
