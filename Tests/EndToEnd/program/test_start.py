"""What a process inherits: descriptors, limits, arguments, environment."""

import ctypes
import os
import pathlib
import signal
import subprocess

import pytest

from support.commands import preload
from support.waiting import wait_for
from support.web_configuration import HASHES

EXPORTER, FEED = "air-quality-exporter", "air-quality-feed"
FLAGS = {EXPORTER: ["--feed.demo"], FEED: ["simulate"]}

#: Swift's runtime finds no arguments when a preloaded library has moved the environment.
MOVED_ENVIRONMENT = """
#include <stdlib.h>
__attribute__((constructor)) static void move(void) { setenv("MOVED", "1", 1); }
"""


@pytest.mark.parametrize("program", FLAGS)
def test_closed_standard_streams_are_replaced_by_dev_null(programs, program):
    listen = "--web.listen-address=127.0.0.1:0" if program == EXPORTER else "--listen=127.0.0.1:0"
    command = [str(programs.folder / program), *FLAGS[program], listen]
    process = subprocess.Popen(["bash", "-c", 'exec "$@" 0<&- 1>&- 2>&-', "bash", *command])
    try:
        folder = pathlib.Path(f"/proc/{process.pid}")

        def listens() -> bool:
            name = (folder / "comm").read_text()
            return name.startswith("air-quality") and len(os.listdir(folder / "task")) > 1

        wait_for(listens, "the threads of the program")
        assert {os.readlink(folder / "fd" / str(number)) for number in range(3)} == {"/dev/null"}
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


@pytest.mark.parametrize("limit", [15, 16, 18, 20, 40])
def test_too_low_a_limit_of_open_files_is_rejected_with_one_line(programs, limit):
    few = {"launcher": ("prlimit", f"--nofile={limit}:{limit}")}
    lines = [
        programs.rejection(EXPORTER, "--feed.demo", **few),
        programs.rejection(FEED, "simulate", "--listen=127.0.0.1:0", **few),
    ]
    said = f"the limit of open files is {limit}, at least 64 are needed"
    assert all(said in line for line in lines), lines


@pytest.fixture
def moved_environment(tmp_path):
    return preload(tmp_path, MOVED_ENVIRONMENT)


def test_variables_are_read_from_a_moved_environment(programs, moved_environment, tmp_path):
    (tmp_path / "web.yml").write_text(f"basic_auth_users: {{bob: {HASHES['secret']}}}\n")
    variable = {"AIR_QUALITY_EXPORTER_WEB_CONFIG_FILE": str(tmp_path / "web.yml")}
    with programs.exporter("--feed.demo", environment=moved_environment | variable) as exporter:
        assert exporter.get("/metrics").status == 401


@pytest.mark.parametrize("program", FLAGS)
def test_arguments_are_read_although_the_environment_was_moved(
    programs, program, moved_environment
):
    line = programs.rejection(program, "--no-such-flag", environment=moved_environment)
    assert '"--no-such-flag"' in line


def without_arguments(path: pathlib.Path, **_) -> None:
    """Replaces this process; Python itself always passes at least the name of a program."""
    os.environ["AIR_QUALITY_EXPORTER_WEB_LISTEN_ADDRESS"] = "127.0.0.1:0"
    none = (ctypes.c_char_p * 1)(None)
    ctypes.CDLL(None).execv(str(path).encode(), none)


@pytest.mark.parametrize("program", FLAGS)
def test_an_empty_argument_list_is_treated_as_no_arguments(programs, program):
    path = programs.folder / program
    process = subprocess.Popen(
        ["unused"],
        executable="/bin/true",
        preexec_fn=lambda: without_arguments(path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        if program == EXPORTER:
            assert "no feed" in process.stderr.readline()
        else:
            assert "listening on" in process.stdout.readline()
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("program", FLAGS)
def test_the_program_runs_without_proc(programs, program):
    hide = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /proc"]
    if subprocess.run(hide, capture_output=True, check=False).returncode:
        pytest.skip("/proc cannot be hidden here")
    hide[-1] += ' && exec "$@"'
    started = programs.exporter if program == EXPORTER else programs.feed
    with started(*FLAGS[program], launcher=(*hide, "sh")) as running:
        assert running.is_running
