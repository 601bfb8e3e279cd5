"""A memory limit set by the kernel, as in deployments, if root may set one."""

import contextlib
import os
import pathlib

import pytest

from support.memory import MIB
from support.peers import WebSocketFeed

GROUPS = pathlib.Path("/sys/fs/cgroup")


class Group:
    """A control group of 256 MiB, the lowest limit in the shipped deployments of an exporter."""

    def __init__(self):
        if "memory" not in (GROUPS / "cgroup.subtree_control").read_text().split():
            raise OSError("memory is not limited by control groups of version 2")
        self.path = GROUPS / f"air-quality-exporter-test-{os.getpid()}"
        self.path.mkdir()
        (self.path / "memory.max").write_text(str(256 * MIB))
        with contextlib.suppress(FileNotFoundError):
            (self.path / "memory.swap.max").write_text("0")
        #: A command that enters the group and becomes the program.
        self.launcher = ("sh", "-c", 'echo $$ >"$0" && exec "$@"', str(self.path / "cgroup.procs"))

    @property
    def kills(self) -> int:
        events = (self.path / "memory.events").read_text().split()
        return int(events[events.index("oom_kill") + 1])


@pytest.fixture
def memory_group():
    try:
        group = Group()
    except OSError as error:
        pytest.skip(f"no control group: {error}")
    yield group
    group.path.rmdir()


@pytest.fixture
def launcher(request):
    """The launcher of programs that run in the group; without a group, only their peak memory is
    checked. Tests name it before `start`."""
    try:
        group = request.getfixturevalue("memory_group")
    except pytest.skip.Exception:
        yield ()
        return
    yield group.launcher
    assert group.kills == 0


@pytest.fixture
def feeds():
    """Two feeds that compress nothing."""
    feeds = [WebSocketFeed(compression=None), WebSocketFeed(compression=None)]
    yield feeds
    for feed in feeds:
        feed.stop()
