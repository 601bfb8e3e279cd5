"""Storage files that are missing or in use. DamagedFileTests has damaged ones."""

import pathlib

from support import metrics


def test_a_file_in_use_by_another_process_is_rejected(start, programs, python_feed, tmp_path):
    file = tmp_path / "history.db"
    first = start.reader(python_feed, "--storage.file", str(file))
    flags = (f"--feed.url={python_feed.url}", f"--storage.file={file}")
    line = programs.rejection("air-quality-exporter", *flags, "--web.listen-address=127.0.0.1:0")
    assert "another process has it open" in line and str(file) in line
    # The first process can still write to it.
    python_feed.send([{"city": "Pune", "aqi": 7}])
    first.wait_for_sample(metrics.LAST_WRITE)
    assert first.scrape().value(metrics.STORAGE_ERRORS) == 0


def test_history_stays_in_memory_until_the_missing_directory_exists(start, python_feed, tmp_path):
    file = tmp_path / "later" / "history.db"
    exporter = start.reader(python_feed, "--storage.file", str(file))
    python_feed.send([{"city": "Pune", "aqi": 7}])
    exporter.wait_for_sample(metrics.INDEX, 7, city="Pune")
    exporter.wait_for_sample(metrics.STORAGE_ERRORS, at_least=2)
    assert exporter.count_lines("its folder is missing or cannot be written") == 1
    file.parent.mkdir()
    exporter.wait_for_line("writable again")
    assert exporter.stop() is None
    again = start.exporter("--feed.url", python_feed.url, "--storage.file", str(file))
    assert [point["aqi"] for point in again.history()["points"]] == [7]


def test_the_configuration_check_examines_the_storage_file_and_its_folder(
    start, programs, python_feed, tmp_path
):
    """It changes neither, even while an exporter has the file open."""

    def check(file: pathlib.Path) -> tuple[int, list[str]]:
        ended = programs.run(
            "air-quality-exporter",
            "--feed.url", python_feed.url,
            "--storage.file", str(file),
            "--config.check",
        )
        return ended.process.returncode, ended.errors

    file = tmp_path / "history.db"
    assert check(file) == (0, []) and not list(tmp_path.iterdir())
    status, errors = check(tmp_path / "missing" / "history.db")
    assert status == 1 and len(errors) == 1 and "folder" in errors[0], errors
    exporter = start.reader(python_feed, "--storage.file", str(file))
    python_feed.send_cities(1)
    exporter.wait_for_sample(metrics.LAST_WRITE)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert check(file) == (0, [])
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    text = tmp_path / "notes.txt"
    text.write_text("storage: none\n")
    status, errors = check(text)
    assert status == 1 and len(errors) == 1 and str(text) in errors[0], errors
