"""Paths that lead to a pipe or a hung mount instead of a regular file do not block the program."""

import contextlib
import ctypes
import os
import signal

import pytest

from support.memory import returns_memory
from support.responses import expect_one_line
from support.waiting import wait_for

NOT_REGULAR = "it is not a regular file"


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "web.yml"
    file.write_text("http_server_config: {headers: {X-Frame-Options: deny}}\n")
    return file


@pytest.fixture
def exporter(start, file):
    return start.exporter("--feed.demo", "--web.config.file", str(file), "--web.enable-lifecycle")


def expect_last_one_in_force(exporter, complaint: str) -> None:
    exporter.wait_for_line(complaint, 1)
    rejected = exporter.get("/-/reload", method="POST")
    assert rejected.status == 500 and complaint in rejected.text
    expect_one_line(rejected)
    assert exporter.get("/metrics").headers["X-Frame-Options"] == "deny"


def test_a_pipe_in_place_of_the_web_configuration_leaves_the_last_one_in_force(exporter, file):
    with returns_memory(exporter):
        file.unlink()
        os.mkfifo(file)
        expect_last_one_in_force(exporter, NOT_REGULAR)
        exporter.signal(signal.SIGHUP)
        said = lambda: exporter.count_lines(NOT_REGULAR) >= 3  # noqa: E731
        wait_for(said, "a complaint about the reload")
    exporter.signal(signal.SIGTERM)
    assert exporter.wait(10) == 0


@pytest.mark.parametrize("flag", ["--web.config.file", "--feed.header-file", "--feed.ca-file"])
def test_a_pipe_in_place_of_a_file_is_rejected_at_start_with_one_line(programs, tmp_path, flag):
    os.mkfifo(tmp_path / "pipe")
    flags = ("--feed.url=wss://127.0.0.1:9/", f"{flag}={tmp_path / 'pipe'}")
    for check in ((), ("--config.check",)):
        line = programs.rejection("air-quality-exporter", *flags, *check, seconds=10)
        assert NOT_REGULAR in line


@contextlib.contextmanager
def hung(file):
    """Makes all access to the file block: it becomes a FUSE file system that nobody serves."""
    if os.geteuid() != 0 or not os.path.exists("/dev/fuse"):
        pytest.skip("needs root and /dev/fuse")
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR)
    try:
        options = f"fd={device},rootmode=100000,user_id=0,group_id=0"
        if libc.mount(b"test", os.fsencode(file), b"fuse", 0, options.encode()) != 0:
            pytest.skip(f"cannot mount: {os.strerror(ctypes.get_errno())}")
        yield
    finally:
        # This also ends blocked accesses.
        os.close(device)
        libc.umount2(os.fsencode(file), 2)


def test_a_web_configuration_that_does_not_respond_leaves_the_last_one_in_force(exporter, file):
    with hung(file):
        expect_last_one_in_force(exporter, "not respond within 5 s")
        exporter.signal(signal.SIGTERM)
        assert exporter.wait(20) == 0
