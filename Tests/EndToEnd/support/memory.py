"""What an attack may leave behind in memory."""

import contextlib

from support.programs import Program
from support.waiting import wait_for

MIB = 1 << 20


@contextlib.contextmanager
def returns_memory(program: Program):
    """What the program has resident comes back to within 32 MiB of what it had before."""
    before = program.resident_bytes
    yield
    wait_for(lambda: program.resident_bytes < before + 32 * MIB, f"the memory to go back to some {before / MIB:.0f} MiB", 60)
