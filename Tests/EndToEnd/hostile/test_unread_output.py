"""What others should empty and do not: standard error, systemd's socket, a response."""

import contextlib
import os
import signal
import socket
import subprocess
import time

import pytest
from websockets.exceptions import ConnectionClosed

from support import stopped_threads
from support.programs import Exporter, Program
from support.raw_http import connect
from support.waiting import wait_for


class SilentExporter(Exporter):
    """An exporter whose standard error is a full pipe that nobody reads."""

    def __init__(self, folder, *flags: str):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.reading, writing = os.pipe()
        os.set_blocking(writing, False)
        try:
            while True:
                os.write(writing, b"x" * 4096)
        except BlockingIOError:
            os.set_blocking(writing, True)
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


def test_a_full_standard_error_costs_log_lines_and_nothing_else(silent, python_feed):
    python_feed.wait_for_client()

    def dropped() -> float:
        return silent.scrape().value("airquality_exporter_log_lines_dropped_total")

    # Each reconnect is a line or two.
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
    # A second for the log, which nobody reads.
    assert time.monotonic() - began < 3


def test_a_start_that_fails_ends_although_nobody_reads_why(programs):
    program = SilentExporter(programs.folder, "--feed.url", "http://nonsense/")
    assert program.process.wait(10) == 1
    os.close(program.reading)


def test_a_notify_socket_that_nobody_reads_holds_up_nothing(start, tmp_path):
    name = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(name)
        # One notification fills it.
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


def test_a_watchdog_is_fed_only_where_systemd_asks_for_it(start, tmp_path):
    name = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(name)
        listening.settimeout(30)
        exporter = start.exporter("--feed.demo", environment={"NOTIFY_SOCKET": name})
        assert listening.recv(100) == b"READY=1"
        time.sleep(1.5)
        exporter.signal(signal.SIGTERM)
        assert listening.recv(100) == b"STOPPING=1"


def test_a_connection_whose_thread_is_stuck_costs_nobody_else_anything(start):
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
