"""What the process inherits: descriptors, limits, arguments."""

import ctypes
import os
import pathlib
import resource
import shutil
import signal
import subprocess

import pytest

from support.waiting import wait_for
from support.web_configuration import HASHES

EXPORTER, FEED = "air-quality-exporter", "air-quality-feed"

#: Swift's runtime finds no arguments when a preloaded library has moved the environment.
MOVED_ENVIRONMENT = """
#include <stdlib.h>
__attribute__((constructor)) static void move(void) { setenv("MOVED", "1", 1); }
"""


@pytest.mark.parametrize(("program", "flags"), [(EXPORTER, ["--feed.demo"]), (FEED, ["simulate"])])
def test_closed_standard_streams_are_opened_first(programs, program, flags):
    listen = "--web.listen-address=127.0.0.1:0" if program == EXPORTER else "--listen=127.0.0.1:0"
    command = [str(programs.folder / program), *flags, listen]
    process = subprocess.Popen(["bash", "-c", 'exec "$@" 0<&- 1>&- 2>&-', "bash", *command])
    try:
        folder = pathlib.Path(f"/proc/{process.pid}")

        def listens():
            return (folder / "comm").read_text().startswith("air-quality") and len(
                [*(folder / "task").iterdir()]
            ) > 1

        wait_for(listens, "the threads of the program")
        assert {os.readlink(folder / "fd" / str(number)) for number in range(3)} == {"/dev/null"}
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


@pytest.mark.parametrize("limit", [15, 16, 18, 20, 40])
def test_too_few_open_files_are_one_line_with_both_numbers(programs, limit):
    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

    for program, flags in [
        (EXPORTER, ["--feed.demo"]),
        (FEED, ["simulate", "--listen=127.0.0.1:0"]),
    ]:
        ended = subprocess.run(
            [programs.folder / program, *flags],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            preexec_fn=few,
        )
        assert ended.returncode == 1
        assert len(ended.stderr.splitlines()) == 1
        assert f"the limit of open files is {limit}, at least 64 are needed" in ended.stderr


@pytest.fixture
def moved_environment(tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler is installed")
    (tmp_path / "move.c").write_text(MOVED_ENVIRONMENT)
    library = tmp_path / "move.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "move.c"], check=True)
    return os.environ | {"LD_PRELOAD": str(library)}


def test_the_password_of_a_moved_environment_is_required(programs, moved_environment, tmp_path):
    (tmp_path / "web.yml").write_text(f"basic_auth_users: {{bob: {HASHES['secret']}}}\n")
    variable = {"AIR_QUALITY_EXPORTER_WEB_CONFIG_FILE": str(tmp_path / "web.yml")}
    exporter = programs.exporter("--feed.demo", environment=moved_environment | variable)
    assert exporter.get("/metrics").status == 401
    exporter.kill()


@pytest.mark.parametrize("program", [EXPORTER, FEED])
def test_arguments_are_read_although_the_environment_was_moved(
    programs, program, moved_environment
):
    ended = subprocess.run(
        [programs.folder / program, "--no-such-flag"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env=moved_environment,
    )
    assert ended.returncode == 1
    assert '"--no-such-flag"' in ended.stderr


def without_arguments(path: pathlib.Path, **_) -> None:
    """Replaces this process; Python itself gives each program a name at least."""
    os.environ["AIR_QUALITY_EXPORTER_WEB_LISTEN_ADDRESS"] = "127.0.0.1:0"
    none = (ctypes.c_char_p * 1)(None)
    ctypes.CDLL(None).execv(str(path).encode(), none)


@pytest.mark.parametrize("program", [EXPORTER, FEED])
def test_no_arguments_at_all_are_a_line_or_a_program_that_works(programs, program):
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


@pytest.mark.parametrize("program", [EXPORTER, FEED])
def test_without_proc_the_program_works(programs, program):
    hide = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /proc"]
    if subprocess.run(hide, capture_output=True, check=False).returncode:
        pytest.skip("/proc cannot be hidden here")
    flags = "--listen=127.0.0.1:0"
    if program == EXPORTER:
        flags = "--feed.demo --web.listen-address=127.0.0.1:0"
    command = f"mount -t tmpfs none /proc && exec {programs.folder / program} {flags}"
    process = subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        line = process.stdout.readline()
        while "istening" not in line:
            assert line, "it ended"
            line = process.stdout.readline()
    finally:
        process.terminate()
        process.communicate(timeout=30)
    assert process.returncode == 0
