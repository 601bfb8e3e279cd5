"""What the process inherits: descriptors, limits, arguments."""

import os
import pathlib
import resource
import shutil
import signal
import subprocess

import pytest

from support.waiting import wait_for

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


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
@pytest.mark.parametrize("program", [EXPORTER, FEED])
def test_arguments_are_read_although_the_environment_was_moved(programs, program, tmp_path):
    (tmp_path / "move.c").write_text(MOVED_ENVIRONMENT)
    library = tmp_path / "move.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "move.c"], check=True)
    ended = subprocess.run(
        [programs.folder / program, "--no-such-flag"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env=os.environ | {"LD_PRELOAD": str(library)},
    )
    assert ended.returncode == 1
    assert '"--no-such-flag"' in ended.stderr
