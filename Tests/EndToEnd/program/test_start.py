"""What a process inherits: descriptors, limits, arguments, environment."""

import contextlib
import ctypes
import os
import pathlib
import re
import signal
import subprocess

import pytest

from support.commands import preload
from support.memory import IS_SANITIZED
from support.raw_http import connect, get
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


@pytest.mark.skipif(IS_SANITIZED, reason="sanitizers read /proc")
@pytest.mark.parametrize("program", FLAGS)
def test_the_program_runs_without_proc(programs, program):
    hide = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /proc"]
    if subprocess.run(hide, capture_output=True, check=False).returncode:
        pytest.skip("/proc cannot be hidden here")
    hide[-1] += ' && exec "$@"'
    started = programs.exporter if program == EXPORTER else programs.feed
    with started(*FLAGS[program], launcher=(*hide, "sh")) as running:
        assert running.is_running


def few_threads(count: int) -> tuple[str, ...]:
    """A command that leaves a user, who has no other processes, so many threads."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    user = "54321"
    return (
        *("prlimit", f"--nproc={count}:{count}"),
        *("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"),
    )


@pytest.mark.parametrize(
    ("program", "flags", "needed"),
    [
        (EXPORTER, ["--feed.url=ws://127.0.0.1:1/"], 66),
        (FEED, ["poll", "--listen=127.0.0.1:0", "--base-url=http://127.0.0.1:1"], 64),
    ],
    ids=["exporter", "poll"],
)
def test_a_start_with_too_few_threads_is_refused_with_both_numbers(
    programs, program, flags, needed
):
    flags = [*flags, "--web.listen-address=127.0.0.1:0"]
    line = programs.rejection(program, *flags, launcher=few_threads(60))
    both = rf"\d\d more threads may be started, at least {needed} are needed: raise "
    assert re.search(both, line)


def test_silent_connections_never_take_all_threads(programs):
    with programs.exporter("--feed.demo", launcher=few_threads(100)) as exporter:
        with contextlib.ExitStack() as stack:
            for number in range(256):
                stack.enter_context(connect(exporter.port, source=f"127.0.0.{1 + number % 2}"))
            for source in ("127.0.0.6", "127.0.0.7"):
                assert get(exporter.port, "/metrics", source).status == 200


#: The threads of the program from a number on cannot be started.
NO_THREADS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
typedef int Create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int pthread_create(
    pthread_t *thread, const pthread_attr_t *a, void *(*run)(void *), void *context
) {
    static atomic_int count;
    if (atomic_fetch_add(&count, 1) >= atoi(getenv("THREADS"))) return EAGAIN;
    return ((Create *)dlsym(RTLD_NEXT, "pthread_create"))(thread, a, run, context);
}
"""


@pytest.mark.parametrize("threads", range(1, 5))
def test_a_thread_that_cannot_start_ends_the_program_with_one_line(programs, tmp_path, threads):
    """One for the log, one for connections and one for a feed are there in time."""
    library = preload(tmp_path, NO_THREADS)
    feeds = [f"--feed.url=ws://127.0.0.1:1/{number}" for number in range(5)]
    environment = library | {"THREADS": str(threads)}
    flags = [*feeds, "--web.listen-address=127.0.0.1:0"]
    ended = programs.run(EXPORTER, *flags, environment=environment)
    assert ended.process.returncode == 1
    assert len([line for line in ended.errors if "Cannot start" in line]) == 1, ended.errors
