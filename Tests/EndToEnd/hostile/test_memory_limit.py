"""The control group that the other tests run the exporter in ends what takes more than its
limit."""

import signal
import sys

from support.programs import Program


def test_what_takes_too_much_is_killed_and_counted(memory_group):
    program = Program([*memory_group.launcher, sys.executable, "-c", "bytearray(300 << 20)"])
    assert program.wait() == -signal.SIGKILL
    assert memory_group.kills == 1
