"""Storage files that were made to end the exporter, to mislead it, or to be overwritten by it."""

import contextlib
import os
import pathlib
import random
import re
import sqlite3
import time

import pytest

from support import metrics
from support.storage_files import first_version
from support.waiting import wait_for


def refused(programs, feed, file: pathlib.Path) -> str:
    """The one line that ends the start."""
    ended = programs.run(
        "air-quality-exporter", "--feed.url", feed.url, "--storage.file", str(file), "--web.listen-address", "127.0.0.1:0"
    )
    assert ended.process.returncode == 1 and len(ended.errors) == 1, ended.errors
    return ended.errors[0]


@pytest.fixture
def stored(start, python_feed, tmp_path):
    """A file with ten points of a hundred cities, as a proper end leaves it, and the flags for it."""
    file = tmp_path / "history.db"
    flags = ("--feed.url", python_feed.url, "--storage.file", str(file), "--history.interval", "0")
    exporter = start.exporter(*flags)
    python_feed.wait_for_client()
    for aqi in range(10):
        python_feed.send_cities(aqi)
        exporter.wait_for_sample(metrics.INDEX, aqi, city="City 99")
        time.sleep(0.002)  # Two points in one millisecond are one.
    assert exporter.stop() is None
    return file, flags


def change(file: pathlib.Path, *statements: str) -> None:
    """Changes the file, without its checksum of the rows."""
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.execute("DELETE FROM setting WHERE name = 'closed'")
        for statement in statements:
            database.execute(statement)
        database.commit()


@pytest.mark.parametrize("links", [1, 2, 41, 150])
def test_loops_and_chains_of_symbolic_links(start, programs, python_feed, tmp_path, links):
    """SQLite follows each with 4 KiB of stack or more."""
    for number in range(links):
        (tmp_path / f"link{number}").symlink_to(tmp_path / f"link{(number + 1) % links}")
    assert "regular file" in refused(programs, python_feed, tmp_path / "link0")
    # The same while it runs.
    file = tmp_path / "history.db"
    exporter = start.exporter("--feed.url", python_feed.url, "--storage.file", str(file), "--history.interval", "0")
    python_feed.wait_for_client()
    python_feed.send_cities(1)
    exporter.wait_for_sample(metrics.LAST_WRITE)
    file.unlink()
    file.symlink_to(tmp_path / "link0")
    python_feed.send_cities(2)
    wait_for(lambda: exporter.scrape().value(metrics.STORAGE_ERRORS) >= 2, "failed writes counted")
    assert exporter.count_lines("Storage file not writable") == 1, exporter.errors
    file.unlink()
    wait_for(lambda: exporter.count_lines("writable again") == 1, "the line that says it is written again")


def test_what_is_no_database_is_not_touched(programs, python_feed, tmp_path):
    for name, content in (("notes.txt", b"storage: none\n"), ("short", b"x"), ("web.yml", b"a: b\n" * 5000)):
        file = tmp_path / name
        file.write_bytes(content)
        assert str(file) in refused(programs, python_feed, file)
        assert file.read_bytes() == content
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    assert "regular file" in refused(programs, python_feed, fifo)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fifo", "notes.txt", "short", "web.yml"]


@pytest.mark.parametrize("number", [-(2**63), -(2**63) + 1, -1, 0, 2**63 - 2, 2**63 - 1])
def test_numbers_of_cities_at_the_edge(start, stored, number):
    file, flags = stored
    change(
        file,
        f"UPDATE reading SET city = {number} WHERE city = 1",
        f"UPDATE city SET id = {number} WHERE id = 1",
    )
    for _ in range(2):
        exporter = start.exporter(*flags)
        assert len(exporter.history()["points"]) == 990
        assert exporter.stop() is None


def test_tables_that_compute(start, stored):
    """A check or a generated column would be evaluated by each look at the file."""
    file, flags = stored
    bomb = "length(zeroblob(900000000)) + length(zeroblob(900000000)) > 0"
    change(
        file,
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_schema SET sql = replace(sql, 'aqi REAL NOT NULL', 'aqi REAL NOT NULL CHECK ({bomb})')",
    )
    exporter = start.exporter(*flags)
    assert exporter.count_lines("moved aside") == 1, exporter.errors
    assert exporter.peak_resident_bytes < 200 << 20
    assert not exporter.history()["points"]


@pytest.mark.parametrize("byte", [0, 3, 4, 9, 13, 17, 23, 24, 31])
def test_a_flipped_bit_in_the_head_of_the_journal(start, python_feed, tmp_path, byte):
    file, journal = tmp_path / "history.db", tmp_path / "history.db-wal"
    flags = ("--feed.url", python_feed.url, "--storage.file", str(file))
    first = start.exporter(*flags)
    python_feed.wait_for_client()
    python_feed.send_cities(1)
    first.wait_for_sample(metrics.LAST_WRITE)
    first.kill()
    content = bytearray(journal.read_bytes())
    content[byte] ^= 4
    journal.write_bytes(content)
    second = start.exporter(*flags)
    assert second.count_lines("moved aside") == 1, second.errors
    (aside,) = tmp_path.glob("*.damaged-*-wal")
    assert aside.read_bytes() == content


def test_flipped_bits_of_a_closed_file_are_not_served(start, stored):
    file, flags = stored
    first = start.exporter(*flags)
    expected = first.history()["points"]
    assert first.stop() is None
    sound, random_ = file.read_bytes(), random.Random(7)
    for _ in range(20):
        content = bytearray(sound)
        content[random_.randrange(512, len(content))] ^= 1 << random_.randrange(8)
        file.write_bytes(content)
        exporter = start.exporter(*flags)
        points = exporter.history()["points"]
        assert points == expected or not points and exporter.count_lines("moved aside") == 1
        exporter.kill()
        for path in file.parent.glob("history.db*"):
            path.unlink()


def test_times_of_the_future(start, python_feed, tmp_path):
    file = tmp_path / "history.db"
    flags = (
        "--feed.url", python_feed.url, "--storage.file", str(file), "--feed.time-field", "time", "--city.expire-after", "3s",
    )  # fmt: skip
    future = int(time.time() * 1000) + 10**10
    first = start.exporter(*flags)
    python_feed.wait_for_client()
    python_feed.send([{"city": "Pune", "aqi": 1}])
    first.wait_for_sample(metrics.INDEX, 1, city="Pune")
    assert first.stop() is None
    change(file, f"UPDATE reading SET time_ms = {future}, received_ms = {future}")
    second = start.exporter(*flags)
    wait_for(lambda: python_feed.clients, "the new connection")
    python_feed.send([{"city": "Pune", "aqi": 2, "time": time.time() + 1}])
    second.wait_for_sample(metrics.INDEX, 2, city="Pune")
    wait_for(lambda: second.scrape().value("airquality_exporter_cities_expired_total") == 1, "the city to expire")


def test_a_large_file_of_the_first_version_with_foreign_rows(start, python_feed, tmp_path):
    """Rows that make no sense, of cities that are not there, and values that no reading has."""
    file = tmp_path / "history.db"
    first_version(file, cities=1000, points=25)
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE city SET id = -9223372036854775808 WHERE id = 7")
        database.execute("UPDATE point SET city = -9223372036854775808 WHERE city = 7")
        database.execute("UPDATE point SET aqi = 1e300 WHERE city = 8")
        database.execute("UPDATE city SET received_ms = 9223372036854775807, updated_ms = -1 WHERE id = 9")
        database.execute("UPDATE city SET better = 9223372036854775807 WHERE id = 10")
    exporter = start.exporter(
        "--feed.url", python_feed.url, "--storage.file", str(file), "--city.expire-after", "0"
    )
    line = next(line for line in exporter.errors if "Storage file restored" in line)
    assert int(re.search(r"skipped_rows=(\d+)", line)[1]) >= 26 + 25 + 1
    assert exporter.stop() is None
