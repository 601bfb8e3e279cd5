"""A serving thread that no longer runs: systemd is not told that all is well, and the process ends."""

import contextlib
import socket
import time

import pytest

from support import stopped_threads
from support.programs import Program
from support.waiting import wait_for

pytestmark = pytest.mark.long

#: How libmicrohttpd names the thread that serves.
SERVING = "MHD-single"


def received(listening: socket.socket) -> list[bytes]:
    """The notifications that have come."""
    messages = []
    with contextlib.suppress(BlockingIOError):
        while True:
            messages.append(listening.recv(4096))
    return messages


def has_ended(program: Program, thread: int) -> bool:
    stopped_threads.forget(thread)
    return not program.is_running


def test_a_stuck_serving_thread_ends_the_process_and_the_watchdog_is_not_fed(start, tmp_path):
    name = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(name)
        listening.setblocking(False)
        environment = {"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "1000000"}
        exporter = start.exporter("--feed.demo", environment=environment)
        wait_for(lambda: b"WATCHDOG=1" in received(listening), "a notification that all is well")
        assert exporter.get("/-/healthy").status == 200

        thread = stopped_threads.find(exporter.pid, SERVING)
        try:
            stopped_threads.stop(thread)
        except PermissionError:
            pytest.skip("ptrace is not permitted here (kernel.yama.ptrace_scope, or a container without CAP_SYS_PTRACE)")
        stopped = time.monotonic()
        fed = stopped
        while not has_ended(exporter, thread):
            if b"WATCHDOG=1" in received(listening):
                fed = time.monotonic()
            assert time.monotonic() - stopped < 120, "the process goes on"
            time.sleep(0.05)
        ended = time.monotonic()
        assert exporter.wait() == 1
        # Half a minute without a turn of the serving thread, and the last half of that without a notification.
        assert ended - stopped > 20
        assert ended - fed > 8
        assert exporter.messages[-1] == "HTTP server does not respond, exiting"
