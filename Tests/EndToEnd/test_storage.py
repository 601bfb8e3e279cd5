"""What `--storage.file` brings back: the exporter killed, restarted, refused, and its disk full, gone, read-only."""

import contextlib
import http.client
import os
import pathlib
import random
import resource
import signal
import sqlite3
import subprocess
import threading
import time

import pytest

from ledger import Ledger
from load import Load
from waiting import wait_for

ERRORS = "airquality_exporter_storage_errors_total"
LAST_WRITE = "airquality_exporter_storage_last_write_timestamp_seconds"


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


def test_no_point_older_than_a_second_is_lost_by_a_kill(programs, python_feed, tmp_path):
    """Killed at random moments under load; AIRQUALITY_KILLS says how often."""
    kills = int(os.environ.get("AIRQUALITY_KILLS", "10"))
    random_ = random.Random(7)
    ledger = Ledger(capacity=100)
    flags = (
        "--feed.url", python_feed.url, "--storage.file", str(tmp_path / "history.db"), "--history.interval", "50ms",
        "--history.capacity", "100", "--feed.reconnect-min", "10ms", "--feed.reconnect-max", "50ms",
    )  # fmt: skip
    with Load(python_feed, cities=100, pause=0.01) as load:
        ended_at = time.monotonic()
        for kill in range(kills + 1):
            with load.rest():
                exporter = programs.exporter(*flags)
                findings = ledger.check(exporter.history()["points"], exporter.scrape(), ended_at)
            try:
                assert not findings, f"after kill {kill}: {findings}"
                assert not any("damaged" in line for line in exporter.errors), exporter.errors
                ended_at = watch_until_killed(exporter, ledger, random_.uniform(0.05, 2.5))
            finally:
                if exporter.is_running:
                    exporter.kill()
    damaged = list(tmp_path.glob("*.damaged*"))
    assert not damaged
    print(
        f"\n{kills} kills: {ledger.count:,} points seen, {ledger.kept:,} times one came back\n"
        f"points lost that were older than one second: 0; files damaged: {len(damaged)}\n"
        f"counters that had risen and began anew: {ledger.resets:,}; that went on from another value: 0"
    )
    assert ledger.kept > 50 * kills


def watch_until_killed(exporter, ledger, seconds: float) -> float:
    """Looks at the exporter until it is killed, after that many seconds; returns when that was."""
    killed_at = None

    def kill():
        nonlocal killed_at
        killed_at = time.monotonic()
        exporter.signal(signal.SIGKILL)

    timer = threading.Timer(seconds, kill)
    timer.start()
    try:
        while True:
            ledger.see(exporter.history(since=ledger.since)["points"])
            ledger.see_counters(exporter.scrape())
    except (OSError, http.client.HTTPException):
        pass
    timer.join()
    assert exporter.wait() == -signal.SIGKILL, exporter.errors
    return killed_at


def test_one_file_belongs_to_one_process(start, programs, python_feed, tmp_path):
    file = tmp_path / "history.db"
    first = start.exporter("--feed.url", python_feed.url, "--storage.file", str(file))
    python_feed.wait_for_client()
    ended = programs.run(
        "air-quality-exporter", "--feed.url", python_feed.url, "--storage.file", str(file),
        "--web.listen-address", "127.0.0.1:0",
    )  # fmt: skip
    assert ended.process.returncode == 1 and not ended.output
    assert len(ended.errors) == 1, ended.errors
    assert "another process has it open" in ended.errors[0] and str(file) in ended.errors[0], ended.errors
    # The first one has not lost it by that.
    python_feed.send([{"city": "Pune", "aqi": 7}])
    first.wait_for_sample(LAST_WRITE)
    assert first.scrape().value(ERRORS) == 0


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
    exporter.wait_for_sample(LAST_WRITE)


def test_a_directory_that_is_missing_leaves_the_exporter_in_memory(start, python_feed, tmp_path):
    file = tmp_path / "later" / "history.db"
    exporter = start.exporter("--feed.url", python_feed.url, "--storage.file", str(file))
    python_feed.wait_for_client()
    python_feed.send([{"city": "Pune", "aqi": 7}])
    exporter.wait_for_sample("airquality_index", 7, city="Pune")
    wait_for(lambda: exporter.scrape().value(ERRORS) >= 2, "failed writes counted")
    assert sum("cannot be written" in line for line in exporter.errors) == 1
    file.parent.mkdir()
    wait_for(lambda: any("written again" in line for line in exporter.errors), "the line that says it is written again")
    assert exporter.stop() is None
    again = start.exporter("--feed.url", python_feed.url, "--storage.file", str(file))
    assert [point["aqi"] for point in again.history()["points"]] == [7]


def test_metrics_of_the_storage(start, python_feed, tmp_path):
    without = start.exporter("--feed.url", python_feed.url).scrape()
    assert not without.samples(ERRORS) and not without.samples(LAST_WRITE)
    exporter = start.exporter("--feed.url", python_feed.url, "--storage.file", str(tmp_path / "history.db"))
    page = exporter.scrape()
    assert page.value(ERRORS) == 0 and not page.samples(LAST_WRITE)
    python_feed.wait_for_client(2)
    before = time.time()
    python_feed.send([{"city": "Pune", "aqi": 7}])
    first = exporter.wait_for_sample(LAST_WRITE)
    assert before - 0.001 <= first <= time.time()
    # Nothing changes, nothing is written; the next reading is.
    assert exporter.scrape().value(LAST_WRITE) == first
    python_feed.send([{"city": "Pune", "aqi": 8}])
    wait_for(lambda: exporter.scrape().value(LAST_WRITE) > first, "the next write")
    assert exporter.scrape().value(ERRORS) == 0


def test_a_city_expires_by_its_original_arrival(start, python_feed, tmp_path):
    file = tmp_path / "history.db"
    flags = ("--feed.url", python_feed.url, "--storage.file", str(file), "--city.expire-after", "1h")
    first = start.exporter(*flags)
    python_feed.wait_for_client()
    python_feed.send([{"city": city, "aqi": 7} for city in ("Old", "Young")])
    first.wait_for_sample("airquality_index", 7, city="Young")
    assert first.stop() is None
    # An hour less three seconds pass.
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        earlier = "UPDATE city SET received_ms = received_ms - 3597000 WHERE name = 'Old'"
        assert database.execute(earlier).rowcount == 1
    second = start.exporter(*flags)
    wait_for(lambda: second.scrape().value("airquality_exporter_cities_expired_total") == 1, "the old city to go")
    assert {labels["city"] for labels, _ in second.scrape().samples("airquality_index")} == {"Young"}
    assert {point["city"] for point in second.history()["points"]} == {"Young"}
    assert second.stop() is None
    with contextlib.closing(sqlite3.connect(file)) as database:
        assert database.execute("SELECT name FROM city").fetchall() == [("Young",)]
        assert database.execute("SELECT count(*) FROM point").fetchone() == (1,)


def test_the_third_point_comes_when_the_interval_since_the_second_has_passed(start, python_feed, tmp_path):
    file = tmp_path / "history.db"
    flags = ("--feed.url", python_feed.url, "--storage.file", str(file))
    first = start.exporter(*flags)
    python_feed.wait_for_client()
    for aqi in (10, 20):
        python_feed.send([{"city": "Pune", "aqi": aqi}])
        wait_for(lambda: [point["aqi"] for point in first.history()["points"]][-1:] == [aqi], "the point")
        time.sleep(0.002)  # Two points in one millisecond are one.
    assert first.stop() is None
    # Half a minute passes.
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE point SET time_ms = time_ms - 30000")
        database.execute("UPDATE city SET updated_ms = updated_ms - 30000, received_ms = received_ms - 30000")
    second = start.exporter(*flags)
    restored = second.history()["points"]
    python_feed.wait_for_client()
    python_feed.send([{"city": "Pune", "aqi": 30}])
    wait_for(lambda: [point["aqi"] for point in second.history()["points"]] == [10, 20, 30], "the third point")
    assert second.history()["points"][:2] == restored


def test_the_category_held_by_hysteresis_stays_held(start, python_feed, tmp_path):
    flags = ("--feed.url", python_feed.url, "--storage.file", str(tmp_path / "history.db"), "--aqi.hysteresis", "5")
    flags += ("--history.interval", "0")
    first = start.exporter(*flags)
    python_feed.wait_for_client()
    # 49 is Good at first; 52 and 55 are not far enough past 51; 56 is; then 48 is not far enough below it.
    for aqi in (49, 52, 55, 56, 48):
        python_feed.send([{"city": "Pune", "aqi": aqi}])
        first.wait_for_sample("airquality_index", aqi, city="Pune")
        time.sleep(0.002)  # Two points in one millisecond are one.
    before, page = first.history(), first.scrape()
    assert [(point["aqi"], point["category"]) for point in before["points"]] == [
        (49, 1), (52, 1), (55, 1), (56, 2), (48, 2),
    ]  # fmt: skip
    assert page.value("airquality_category", city="Pune") == 2
    assert first.stop() is None
    second = start.exporter(*flags)
    assert second.history() == before
    assert second.scrape().value("airquality_category", city="Pune") == 2
    python_feed.wait_for_client()
    python_feed.send([{"city": "Pune", "aqi": 47}])
    second.wait_for_sample("airquality_index", 47, city="Pune")
    # Without what was held, 47 would be Good at once.
    assert second.scrape().value("airquality_category", city="Pune") == 2


def test_another_scale_keeps_readings_and_begins_categories_anew(start, python_feed, tmp_path):
    flags = ("--feed.url", python_feed.url, "--storage.file", str(tmp_path / "history.db"))
    first = start.exporter(*flags)
    python_feed.wait_for_client()
    for aqi in (40, 160):
        python_feed.send([{"city": "Pune", "aqi": aqi}])
        first.wait_for_sample("airquality_index", aqi, city="Pune")
        time.sleep(0.002)  # Two points in one millisecond are one.
    before, page = first.history()["points"], first.scrape()
    assert page.value("airquality_category_changes_total", city="Pune", direction="worse") == 1
    assert first.stop() is None
    second = start.exporter(*flags, "--aqi.scale", "us")
    after, restored = second.history()["points"], second.scrape()
    assert [(point["time_ms"], point["aqi"]) for point in after] == [(point["time_ms"], point["aqi"]) for point in before]
    assert [point["category"] for point in before] == [1, 3] and [point["category"] for point in after] == [1, 4]
    assert restored.value("airquality_category", city="Pune") == 4
    assert restored.value("airquality_category_changes_total", city="Pune", direction="worse") == 0
    assert restored.value("airquality_category_direction", city="Pune") == 0
    assert not restored.samples("airquality_category_changed_timestamp_seconds")
    for name in ("airquality_index", "airquality_last_update_timestamp_seconds"):
        assert restored.samples(name) == page.samples(name)


# MARK: The disk


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MiB."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a file system")
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield folder
    # Whatever still has a file open there keeps it until it ends.
    subprocess.run(["umount", "--lazy", folder], check=True)


def count_of(exporter, words: str) -> int:
    return sum(words in line for line in exporter.errors)


def send_cities(feed, aqi: int, count: int = 100) -> None:
    feed.send([{"city": f"City {number}", "aqi": aqi} for number in range(count)])


def test_a_full_disk_costs_nothing_but_the_file(start, python_feed, small_disk):
    file = small_disk / "history.db"
    flags = ("--feed.url", python_feed.url, "--storage.file", str(file), "--history.interval", "0")
    exporter = start.exporter(*flags)
    python_feed.wait_for_client()
    send_cities(python_feed, 1)
    exporter.wait_for_sample(LAST_WRITE)
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as stream, contextlib.suppress(OSError):
        while stream.write(b"x" * 4096):
            pass
    # More than fits into what the journal has left of its last page.
    for aqi in range(2, 22):
        send_cities(python_feed, aqi)
        exporter.wait_for_sample("airquality_index", aqi, city="City 99")
        time.sleep(0.002)  # Two points in one millisecond are one.
    # It goes on counting the attempts, and says it once.
    wait_for(lambda: exporter.scrape().value(ERRORS) >= 2, "failed writes counted")
    assert count_of(exporter, "cannot be written") == 1, exporter.errors
    assert any("full" in line for line in exporter.errors), exporter.errors
    history = exporter.history()
    assert len(history["points"]) == 100 * 21
    ballast.unlink()
    wait_for(lambda: count_of(exporter, "written again") == 1, "the line that says it is written again")
    assert exporter.scrape().value(LAST_WRITE) > 0
    exporter.kill()
    again = start.exporter(*flags)
    assert again.history() == history
    assert not list(small_disk.glob("*.damaged*"))


def test_a_file_at_the_limit_of_the_process(start, python_feed, tmp_path):
    """`ulimit -f`: without more ado the kernel would end a process that writes beyond it."""
    flags = ("--feed.url", python_feed.url, "--storage.file", str(tmp_path / "history.db"), "--history.interval", "0")
    exporter = start.exporter(*flags)
    python_feed.wait_for_client()
    send_cities(python_feed, 1)
    exporter.wait_for_sample(LAST_WRITE)
    before = resource.prlimit(exporter.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(exporter.pid, resource.RLIMIT_FSIZE, (1024, before[1]))
    send_cities(python_feed, 2)
    wait_for(lambda: exporter.scrape().value(ERRORS) >= 2, "failed writes counted")
    assert count_of(exporter, "cannot be written") == 1, exporter.errors
    resource.prlimit(exporter.pid, resource.RLIMIT_FSIZE, before)
    wait_for(lambda: count_of(exporter, "written again") == 1, "the line that says it is written again")
    history = exporter.history()
    assert len(history["points"]) == 200
    exporter.kill()
    assert start.exporter(*flags).history() == history


def test_a_disk_that_is_full_at_the_start(start, python_feed, small_disk):
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as stream, contextlib.suppress(OSError):
        while stream.write(b"x" * 4096):
            pass
    flags = ("--feed.url", python_feed.url, "--storage.file", str(small_disk / "history.db"))
    exporter = start.exporter(*flags)
    python_feed.wait_for_client()
    send_cities(python_feed, 1)
    exporter.wait_for_sample("airquality_index", 1, city="City 99")
    wait_for(lambda: exporter.scrape().value(ERRORS) >= 2, "failed writes counted")
    assert count_of(exporter, "cannot be written") == 1, exporter.errors
    ballast.unlink()
    wait_for(lambda: count_of(exporter, "written again") == 1, "the line that says it is written again")
    history = exporter.history()
    exporter.kill()
    assert start.exporter(*flags).history() == history


def test_a_disk_that_becomes_read_only(start, python_feed, small_disk):
    file = small_disk / "history.db"
    flags = ("--feed.url", python_feed.url, "--storage.file", str(file), "--history.interval", "0")
    first = start.exporter(*flags)
    python_feed.wait_for_client()
    send_cities(python_feed, 1)
    first.wait_for_sample(LAST_WRITE)
    before = first.history()
    assert first.stop() is None
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    content = file.read_bytes()
    # What is there is shown; what comes is kept in memory.
    second = start.exporter(*flags)
    assert second.history() == before
    assert count_of(second, "cannot be written") == 1, second.errors
    wait_for(lambda: python_feed.clients, "the new connection")
    send_cities(python_feed, 2)
    second.wait_for_sample("airquality_index", 2, city="City 99")
    wait_for(lambda: second.scrape().value(ERRORS) >= 2, "failed writes counted")
    assert not second.scrape().samples(LAST_WRITE)
    assert file.read_bytes() == content and os.listdir(small_disk) == [file.name]
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    wait_for(lambda: count_of(second, "written again") == 1, "the line that says it is written again")
    assert count_of(second, "cannot be written") == 1, second.errors
    history = second.history()
    second.kill()
    third = start.exporter(*flags)
    assert third.history() == history and len(history["points"]) == 200


def test_a_file_without_the_right_to_write(start, python_feed, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write every file")
    file = tmp_path / "history.db"
    flags = ("--feed.url", python_feed.url, "--storage.file", str(file))
    first = start.exporter(*flags)
    python_feed.wait_for_client()
    send_cities(python_feed, 1)
    first.wait_for_sample(LAST_WRITE)
    before = first.history()
    assert first.stop() is None
    file.chmod(0o444)
    second = start.exporter(*flags)
    assert second.history() == before
    assert any("read-only" in line for line in second.errors), second.errors
    file.chmod(0o644)
    wait_for(lambda: count_of(second, "written again") == 1, "the line that says it is written again")


@pytest.mark.parametrize("what", ["removed", "renamed", "replaced by another program's file", "its directory removed"])
def test_the_file_goes_while_it_is_in_use(start, python_feed, tmp_path, what):
    folder = tmp_path / "storage"
    folder.mkdir()
    file = folder / "history.db"
    flags = ("--feed.url", python_feed.url, "--storage.file", str(file), "--history.interval", "0")
    exporter = start.exporter(*flags)
    python_feed.wait_for_client()
    send_cities(python_feed, 1)
    exporter.wait_for_sample(LAST_WRITE)
    match what:
        case "removed":
            for name in folder.iterdir():
                name.unlink()
        case "renamed":
            file.rename(folder / "elsewhere.db")
        case "replaced by another program's file":
            foreign = tmp_path / "foreign.db"
            with contextlib.closing(sqlite3.connect(foreign)) as database, database:
                database.execute("CREATE TABLE mine (value)")
            foreign.replace(file)
        case "its directory removed":
            folder.rename(tmp_path / "gone")
    send_cities(python_feed, 2)
    exporter.wait_for_sample("airquality_index", 2, city="City 99")
    if what.startswith("replaced"):
        # It is not ours, so it is left alone.
        wait_for(lambda: exporter.scrape().value(ERRORS) >= 2, "failed writes counted")
        assert count_of(exporter, "another program") == 1, exporter.errors
        with contextlib.closing(sqlite3.connect(file)) as database:
            assert database.execute("SELECT name FROM sqlite_schema").fetchall() == [("mine",)]
        file.unlink()
    elif what == "its directory removed":
        wait_for(lambda: exporter.scrape().value(ERRORS) >= 2, "failed writes counted")
        assert count_of(exporter, "cannot be written") == 1, exporter.errors
        folder.mkdir()
    history = exporter.history()
    words = "written again" if what.startswith(("replaced", "its")) else "begun again"
    wait_for(lambda: count_of(exporter, words) == 1, "the line that says so")
    wait_for(lambda: stored_points(file) == 200, "all of the memory in the new file")
    exporter.kill()
    again = start.exporter(*flags)
    assert again.history() == history


def stored_points(file: pathlib.Path) -> int:
    """Counted in a copy, because the file is locked."""
    copy = file.parent / "copy.db"
    for suffix in ("", "-wal"):
        pathlib.Path(f"{copy}{suffix}").write_bytes(pathlib.Path(f"{file}{suffix}").read_bytes())
    with contextlib.closing(sqlite3.connect(copy)) as database:
        return database.execute("SELECT count(*) FROM point").fetchone()[0]


def test_a_file_damaged_by_the_disk_is_set_aside_and_kept(start, python_feed, tmp_path):
    file = tmp_path / "history.db"
    flags = ("--feed.url", python_feed.url, "--storage.file", str(file), "--history.interval", "0")
    first = start.exporter(*flags)
    python_feed.wait_for_client()
    for aqi in range(10):
        send_cities(python_feed, aqi)
        first.wait_for_sample("airquality_index", aqi, city="City 99")
    assert first.stop() is None
    content = bytearray(file.read_bytes())
    # Whole pages of the middle, as a disk loses them.
    content[len(content) // 4 : len(content) // 2] = random.Random(7).randbytes(len(content) // 2 - len(content) // 4)
    file.write_bytes(content)
    second = start.exporter(*flags)
    # Its journal, which is empty by now, goes with it.
    aside = list(tmp_path.glob("history.db.damaged-*Z"))
    assert len(aside) == 1 and aside[0].read_bytes() == content
    assert count_of(second, "damaged") == 1, second.errors
    line = next(line for line in second.errors if "damaged" in line)
    assert str(aside[0]) in line and "level=ERROR" in line
    assert second.history()["points"] == []
    wait_for(lambda: python_feed.clients, "the new connection")
    send_cities(python_feed, 7)
    second.wait_for_sample(LAST_WRITE)
    assert second.scrape().value(ERRORS) == 1


def test_a_file_of_another_program_or_of_a_later_version_is_left_alone(programs, python_feed, tmp_path):
    cases = {
        "foreign.db": ("CREATE TABLE mine (value)", "another program"),
        "later.db": (f"PRAGMA application_id = {0x41514958}; PRAGMA user_version = 99; CREATE TABLE x (y)", "version 99"),
    }
    for name, (sql, words) in cases.items():
        file = tmp_path / name
        with contextlib.closing(sqlite3.connect(file)) as database, database:
            database.executescript(sql)
        content = file.read_bytes()
        ended = programs.run(
            "air-quality-exporter", "--feed.url", python_feed.url, "--storage.file", str(file),
            "--web.listen-address", "127.0.0.1:0",
        )  # fmt: skip
        assert ended.process.returncode == 1 and len(ended.errors) == 1, ended.errors
        assert words in ended.errors[0] and str(file) in ended.errors[0]
        assert file.read_bytes() == content
