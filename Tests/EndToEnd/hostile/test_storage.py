"""Storage files crafted to crash the exporter, to mislead it, or to be overwritten by it."""

import contextlib
import pathlib
import sqlite3
import time

import pytest

from support import metrics


@pytest.fixture
def stored(start, python_feed, tmp_path):
    """A file with ten points of a hundred cities after a clean shutdown, and the flags for it."""
    file = tmp_path / "history.db"
    flags = ("--feed.url", python_feed.url, "--storage.file", str(file), "--history.interval", "0")
    exporter = start.exporter(*flags)
    python_feed.wait_for_client()
    for aqi in range(10):
        python_feed.send_cities(aqi)
        exporter.wait_for_sample(metrics.INDEX, aqi, city="City 99")
        time.sleep(0.002)  # Two points in one millisecond count as one.
    assert exporter.stop() is None
    return file, flags


def change(file: pathlib.Path, statements: str) -> None:
    """Changes the file, ignoring the constraints of its tables."""
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.executescript(f"PRAGMA ignore_check_constraints = ON; {statements}")


@pytest.mark.parametrize("links", [2, 150])
def test_loops_of_symbolic_links_are_rejected_at_start_and_tolerated_while_running(
    start, programs, python_feed, tmp_path, links
):
    """SQLite uses 4 KiB of stack or more for each link."""
    for number in range(links):
        (tmp_path / f"link{number}").symlink_to(tmp_path / f"link{(number + 1) % links}")
    flags = (f"--feed.url={python_feed.url}", "--web.listen-address=127.0.0.1:0")
    looped = f"--storage.file={tmp_path / 'link0'}"
    assert "regular file" in programs.rejection("air-quality-exporter", *flags, looped)
    # The same happens to a file in use.
    file = tmp_path / "history.db"
    exporter = start.reader(python_feed, "--storage.file", str(file), "--history.interval", "0")
    python_feed.send_cities(1)
    exporter.wait_for_sample(metrics.LAST_WRITE)
    file.unlink()
    file.symlink_to(tmp_path / "link0")
    python_feed.send_cities(2)
    exporter.wait_for_sample(metrics.STORAGE_ERRORS, at_least=2)
    assert exporter.count_lines("Storage file not writable") == 1, exporter.errors
    file.unlink()
    exporter.wait_for_line("writable again", 1)


@pytest.mark.parametrize("number", [-(2**63), -1, 2**63 - 1])
def test_a_file_with_extreme_city_numbers_is_moved_aside(start, stored, number):
    file, flags = stored
    change(
        file,
        f"UPDATE reading SET city = {number} WHERE city = 1; "
        f"UPDATE city SET id = {number} WHERE id = 1",
    )
    exporter = start.exporter(*flags)
    assert "level=ERROR" in exporter.wait_for_line("moved aside", 1)
    assert exporter.stop() is None
    again = start.exporter(*flags)
    assert again.count_lines("Storage file restored") == 1, again.errors


#: Statements that make a file large, and words of the resulting line in the log.
LARGE = {
    "cities": (
        "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) "
        "INSERT INTO city (id, name, scale, direction) SELECT i, 'City ' || i, 'india', 0 FROM n",
        'level=WARN msg="Storage file restored"',
    ),
    "points": (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) "
        "INSERT INTO reading SELECT i, 1, 1 FROM n",
        "Storage file restored",
    ),
    "a name": ("UPDATE city SET name = printf('%.*c', 150000000, 'x') WHERE id = 1", "moved aside"),
    "a definition": (f"CREATE VIEW v AS SELECT '{'x' * 150_000_000}'", "moved aside"),
    "300,000 views": (
        "PRAGMA writable_schema = ON; "
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) "
        "INSERT INTO sqlite_schema SELECT 'view', 'v' || i, 'v' || i, 0, "
        "'CREATE VIEW v' || i || ' AS SELECT 1' FROM n",
        "moved aside",
    ),
}


@pytest.mark.parametrize("what", LARGE)
def test_a_large_storage_file_takes_bounded_memory(start, stored, what):
    file, flags = stored
    statement, words = LARGE[what]
    change(file, statement)
    exporter = start.exporter(*flags)
    assert exporter.count_lines(words) == 1, exporter.errors
    assert exporter.peak_resident_bytes < (160 if what == "300,000 views" else 128) << 20
