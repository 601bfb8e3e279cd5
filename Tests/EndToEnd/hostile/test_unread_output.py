"""Output that nobody reads: standard error and output, systemd's socket, a response."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import time

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect as connect_to_feed

from support import stopped_threads
from support.programs import Exporter, Program, free_ports
from support.raw_http import connect
from support.waiting import wait_for


def full_pipe() -> tuple[int, int]:
    """Both ends of a full pipe."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x" * 4096)
    os.set_blocking(writing, True)
    return reading, writing


@pytest.fixture
def unread():
    """A standard output that nobody reads."""
    reading, writing = full_pipe()
    yield writing
    os.close(reading)
    os.close(writing)


class SilentExporter(Exporter):
    """An exporter whose standard error is a full pipe that nobody reads."""

    def __init__(self, folder, *flags: str):
        (self.port,) = free_ports(1)
        self.reading, writing = full_pipe()
        self.command = [str(folder / "air-quality-exporter"), *flags]
        self.command += ["--web.listen-address", f"127.0.0.1:{self.port}"]
        self.output, self.errors, self._readers = [], [], []
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stderr=writing)
        os.close(writing)


@pytest.fixture
def silent(programs, python_feed):
    exporter = SilentExporter(
        programs.folder,
        "--feed.url", python_feed.url,
        "--log.level", "debug",
        "--web.enable-lifecycle",
        "--feed.reconnect-min", "1ms",
        "--feed.reconnect-max", "10ms",
    )
    yield exporter
    os.close(exporter.reading)
    if exporter.is_running:
        exporter.kill()


def test_a_full_standard_error_only_drops_log_lines(silent, python_feed):
    python_feed.wait_for_client()

    def dropped() -> float:
        return silent.scrape().value("airquality_exporter_log_lines_dropped_total")

    # Each reconnect logs a line or two.
    def reconnect() -> bool:
        assert silent.get("/-/reconnect", method="POST").status == 200
        return dropped() > 0

    wait_for(reconnect, "a line that is dropped", 60, 0.002)

    # The last of the reconnects may still be under way.
    def is_read() -> bool:
        with contextlib.suppress(ConnectionClosed):
            python_feed.send([{"city": "Pune", "aqi": 7}])
        return bool(silent.scrape().samples("airquality_index", city="Pune"))

    wait_for(is_read, "a reading")
    assert silent.get("/-/ready").status == 200
    began = time.monotonic()
    silent.signal(signal.SIGTERM)
    assert silent.process.wait(10) == 0
    # The log, which nobody reads, is given one second.
    assert time.monotonic() - began < 3


def test_a_failed_start_exits_even_if_nobody_reads_standard_error(programs):
    program = SilentExporter(programs.folder, "--feed.url", "http://nonsense/")
    assert program.process.wait(10) == 1
    os.close(program.reading)


def test_a_full_notification_socket_blocks_nothing(start, tmp_path):
    name = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(name)
        # It is full before the exporter starts.
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            try:
                while True:
                    sender.sendto(b"x" * 1024, name)
            except BlockingIOError:
                pass
        environment = {"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "100000"}
        exporter = start.exporter("--feed.demo", environment=environment)
        exporter.wait_for_sample("airquality_exporter_feed_connected", 1, feed="demo")
        assert exporter.get("/-/healthy").status == 200
        exporter.signal(signal.SIGTERM)
        assert exporter.wait(10) == 0


def test_a_stuck_connection_thread_blocks_neither_others_nor_the_shutdown(start):
    exporter: Program = start.exporter("--feed.demo")
    with connect(exporter.port) as client:
        client.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.recv(12) == b"HTTP/1.1 200"
        thread = stopped_threads.find(exporter.pid, "MHD-connection")
        try:
            stopped_threads.stop(thread)
        except PermissionError:
            pytest.skip("ptrace is not permitted here")
        for _ in range(5):
            assert exporter.get("/metrics").status == 200
        exporter.signal(signal.SIGTERM)
        began = time.monotonic()
        while exporter.is_running:
            stopped_threads.forget(thread)
            assert time.monotonic() - began < 20, "the process goes on"
            time.sleep(0.05)
        assert exporter.wait() == 0


# MARK: Standard output


def start_unread(programs, unread, *command: str) -> subprocess.Popen:
    program, *arguments = command
    return subprocess.Popen(
        [programs.folder / program, *arguments],
        stdin=subprocess.DEVNULL, stdout=unread, stderr=subprocess.DEVNULL,
    )


def is_waiting(process: subprocess.Popen) -> bool:
    """Whether its main thread waits in the kernel."""
    state = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    return state == "S" and process.poll() is None


def expect_end(process: subprocess.Popen, number: signal.Signals) -> int:
    began = time.monotonic()
    process.send_signal(number)
    status = process.wait(20)
    assert time.monotonic() - began < 5
    return status


@pytest.mark.parametrize(
    "command, number",
    [
        ("air-quality-exporter --help", signal.SIGTERM),
        ("air-quality-exporter --feed.demo --config.check", signal.SIGTERM),
        ("air-quality-exporter probe ws://127.0.0.1:1/", signal.SIGINT),
        ("air-quality-feed --version", signal.SIGINT),
    ],
)
def test_a_signal_ends_a_program_whose_output_nobody_reads(programs, unread, command, number):
    process = start_unread(programs, unread, *command.split())
    time.sleep(0.5)
    wait_for(lambda: is_waiting(process), "the wait for a reader")
    assert expect_end(process, number) == -number


@pytest.mark.parametrize("command", ["simulate", "replay", "poll"])
def test_a_feed_serves_even_if_nobody_reads_its_output(programs, unread, tmp_path, command):
    (port,) = free_ports(1)
    recording = tmp_path / "recording"
    recording.write_text('[{"city":"Pune","aqi":7}]\n')
    others = {"simulate": [], "replay": [str(recording)]}
    others["poll"] = ["--source=json", "--url=http://127.0.0.1:1/", "--jq=."]
    process = start_unread(
        programs, unread,
        "air-quality-feed", command, *others[command], f"--listen=127.0.0.1:{port}",
    )
    try:
        if command != "poll":
            connected = lambda: websocket(f"ws://127.0.0.1:{port}/")  # noqa: E731
            with wait_for(connected, "the server") as client:
                assert client.recv(10)
        else:
            time.sleep(1.5)
    finally:
        assert expect_end(process, signal.SIGTERM) == 0


def websocket(address: str):
    with contextlib.suppress(OSError):
        return connect_to_feed(address)


def test_sigterm_ends_a_recording_whose_output_nobody_reads(programs, unread, python_feed):
    process = start_unread(programs, unread, "air-quality-feed", "record", python_feed.url)
    python_feed.wait_for_client()
    python_feed.send([{"city": "Pune", "aqi": 7}])
    thread = lambda: stopped_threads.find(process.pid, "client")  # noqa: E731
    wait_for(thread, "the thread of the feed")
    time.sleep(0.5)
    assert expect_end(process, signal.SIGTERM) == 0


def test_a_healthcheck_exits_with_status_0_even_if_nobody_reads_its_output(
    programs, unread, start
):
    exporter = start.exporter("--feed.demo")
    wait_for(lambda: exporter.get("/-/ready").status == 200, "the first reading")
    arguments = ["healthcheck", f"--web.listen-address={exporter.address}"]
    began = time.monotonic()
    process = start_unread(programs, unread, "air-quality-exporter", *arguments)
    assert process.wait(10) == 0
    assert time.monotonic() - began < 4
