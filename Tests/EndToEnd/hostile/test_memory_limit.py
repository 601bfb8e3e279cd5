"""The control group in which other tests run the exporter kills programs that exceed its limit."""

import signal
import sys

from support.programs import Program


def test_a_program_beyond_the_memory_limit_is_killed_and_counted(memory_group):
    program = Program([*memory_group.launcher, sys.executable, "-c", "bytearray(300 << 20)"])
    assert program.wait() == -signal.SIGKILL
    assert memory_group.kills == 1
