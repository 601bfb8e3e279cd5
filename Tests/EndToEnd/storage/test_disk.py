"""Failures of the storage file, its directory and its disk while the exporter runs; feeds and
scrapes go on."""

import contextlib
import os
import pathlib
import resource
import sqlite3
import subprocess
import time

import pytest

from support import metrics
from support.storage_files import stored_points
from support.waiting import wait_for


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MiB."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a file system")
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield folder
    # A process with an open file there keeps the file system until it exits.
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(disk: pathlib.Path) -> pathlib.Path:
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as stream, contextlib.suppress(OSError):
        while stream.write(b"x" * 4096):
            pass
    return ballast


def flags_of(feed, file: pathlib.Path) -> tuple[str, ...]:
    return ("--feed.url", feed.url, "--storage.file", str(file), "--history.interval", "0")


def start_writing(start, feed, flags):
    """An exporter that has written a reading of each city."""
    exporter = start.exporter(*flags)
    feed.wait_for_client()
    feed.send_cities(1)
    exporter.wait_for_sample(metrics.LAST_WRITE)
    return exporter


def wait_for_failed_writes(exporter) -> None:
    """Every failed attempt is counted, but only one line is logged."""
    exporter.wait_for_sample(metrics.STORAGE_ERRORS, at_least=2)
    assert exporter.count_lines("Storage file not writable") == 1, exporter.errors


def wait_until_writable(exporter) -> None:
    exporter.wait_for_line("writable again", 1)


def test_a_full_disk_loses_no_points_once_it_has_room_again(start, python_feed, small_disk):
    file = small_disk / "history.db"
    flags = flags_of(python_feed, file)
    exporter = start_writing(start, python_feed, flags)
    ballast = fill(small_disk)
    # More than fits into the rest of the journal's last page.
    for aqi in range(2, 22):
        python_feed.send_cities(aqi)
        exporter.wait_for_sample(metrics.INDEX, aqi, city="City 99")
        time.sleep(0.002)  # Two points in one millisecond count as one.
    wait_for_failed_writes(exporter)
    assert exporter.count_lines("full"), exporter.errors
    history = exporter.history()
    assert len(history["points"]) == 100 * 21
    ballast.unlink()
    wait_until_writable(exporter)
    assert exporter.scrape().value(metrics.LAST_WRITE) > 0
    exporter.kill()
    again = start.exporter(*flags)
    assert again.history() == history
    assert not list(small_disk.glob("*.damaged*"))


def test_the_file_size_limit_of_the_process_stops_only_the_writes(start, python_feed, tmp_path):
    """`ulimit -f`: by default, the kernel kills a process that writes beyond it."""
    flags = flags_of(python_feed, tmp_path / "history.db")
    exporter = start_writing(start, python_feed, flags)
    before = resource.prlimit(exporter.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(exporter.pid, resource.RLIMIT_FSIZE, (1024, before[1]))
    python_feed.send_cities(2)
    wait_for_failed_writes(exporter)
    resource.prlimit(exporter.pid, resource.RLIMIT_FSIZE, before)
    wait_until_writable(exporter)
    history = exporter.history()
    assert len(history["points"]) == 200
    exporter.kill()
    assert start.exporter(*flags).history() == history


def test_a_disk_that_is_full_at_the_start_is_written_to_once_it_has_room(
    start, python_feed, small_disk
):
    ballast = fill(small_disk)
    flags = flags_of(python_feed, small_disk / "history.db")
    exporter = start.exporter(*flags)
    python_feed.wait_for_client()
    python_feed.send_cities(1)
    exporter.wait_for_sample(metrics.INDEX, 1, city="City 99")
    wait_for_failed_writes(exporter)
    ballast.unlink()
    wait_until_writable(exporter)
    history = exporter.history()
    exporter.kill()
    assert start.exporter(*flags).history() == history


def test_a_disk_that_is_full_at_the_start_does_not_hide_the_stored_history(
    start, python_feed, small_disk
):
    flags = flags_of(python_feed, small_disk / "history.db")
    first = start_writing(start, python_feed, flags)
    before = first.history()
    assert first.stop() is None
    ballast = fill(small_disk)
    second = start.exporter(*flags)
    assert second.history() == before
    assert second.count_lines("Storage file not writable") == 1, second.errors
    ballast.unlink()
    wait_until_writable(second)
    assert second.stop() is None
    assert start.exporter(*flags).history() == before


def test_a_read_only_disk_keeps_points_in_memory_until_writable(start, python_feed, small_disk):
    file = small_disk / "history.db"
    flags = flags_of(python_feed, file)
    first = start_writing(start, python_feed, flags)
    python_feed.send_cities(60)
    first.wait_for_sample(metrics.INDEX, 60, city="City 99")
    before = first.history()
    assert first.stop() is None
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    content = file.read_bytes()
    # The stored values are shown; new ones are kept in memory.
    second = start.exporter(*flags)
    assert second.history() == before
    assert second.count_lines("Storage file not writable") == 1, second.errors
    # Counters begin at 0, because the next start restores those of the file once more.
    changes = second.scrape().samples("airquality_category_changes_total")
    assert {value for _, value in changes} == {0}
    wait_for(lambda: python_feed.clients, "the new connection")
    python_feed.send_cities(2)
    second.wait_for_sample(metrics.INDEX, 2, city="City 99")
    wait_for_failed_writes(second)
    assert not second.scrape().samples(metrics.LAST_WRITE)
    assert file.read_bytes() == content and os.listdir(small_disk) == [file.name]
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    wait_until_writable(second)
    assert second.count_lines("Storage file not writable") == 1, second.errors
    history = second.history()
    second.kill()
    third = start.exporter(*flags)
    assert third.history() == history and len(history["points"]) == 300


def test_a_read_only_disk_does_not_hide_what_a_killed_exporter_has_stored(
    start, python_feed, small_disk
):
    flags = flags_of(python_feed, small_disk / "history.db")
    first = start_writing(start, python_feed, flags)
    written = first.scrape().value(metrics.LAST_WRITE)
    python_feed.send_cities(60)
    first.wait_for_sample(metrics.LAST_WRITE, at_least=written + 0.001)
    before = first.history()
    first.kill()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    assert start.exporter(*flags).history() == before and len(before["points"]) == 200


def test_a_read_only_file_leaves_the_exporter_in_memory_until_it_is_writable(
    start, python_feed, tmp_path
):
    if os.geteuid() == 0:
        pytest.skip("root may write every file")
    file = tmp_path / "history.db"
    flags = flags_of(python_feed, file)
    first = start_writing(start, python_feed, flags)
    before = first.history()
    assert first.stop() is None
    file.chmod(0o444)
    second = start.exporter(*flags)
    assert second.history() == before
    assert second.count_lines("read-only"), second.errors
    file.chmod(0o644)
    wait_until_writable(second)


# LostDiskTests has more cases.
@pytest.mark.parametrize(
    "what", ["removed", "replaced by another program's file", "its directory removed"]
)
def test_a_storage_file_lost_in_use_is_recreated_from_memory(start, python_feed, tmp_path, what):
    folder = tmp_path / "storage"
    folder.mkdir()
    file = folder / "history.db"
    flags = flags_of(python_feed, file)
    exporter = start_writing(start, python_feed, flags)
    match what:
        case "removed":
            for name in folder.iterdir():
                name.unlink()
        case "replaced by another program's file":
            foreign = tmp_path / "foreign.db"
            with contextlib.closing(sqlite3.connect(foreign)) as database, database:
                database.execute("CREATE TABLE mine (value)")
            foreign.replace(file)
        case "its directory removed":
            folder.rename(tmp_path / "gone")
    python_feed.send_cities(2)
    exporter.wait_for_sample(metrics.INDEX, 2, city="City 99")
    if what.startswith("replaced"):
        # The file of another program is left alone.
        wait_for_failed_writes(exporter)
        assert exporter.count_lines("another program") == 1, exporter.errors
        with contextlib.closing(sqlite3.connect(file)) as database:
            assert database.execute("SELECT name FROM sqlite_schema").fetchall() == [("mine",)]
        file.unlink()
    elif what == "its directory removed":
        wait_for_failed_writes(exporter)
        folder.mkdir()
    history = exporter.history()
    words = "recreated from memory" if what == "removed" else "writable again"
    exporter.wait_for_line(words, 1)
    wait_for(lambda: stored_points(file) == 200, "all of the memory in the new file")
    exporter.kill()
    again = start.exporter(*flags)
    assert again.history() == history
