"""The memory that an attack may leave in use."""

import contextlib
import os

from support.programs import Program
from support.waiting import wait_for

MIB = 1 << 20


@contextlib.contextmanager
def returns_memory(program: Program):
    """The program's resident memory returns to within 32 MiB of what it was before; with a
    sanitizer to within 512, because its allocator keeps much of what is freed."""
    most = (512 if "AIRQUALITY_SLOW" in os.environ else 32) * MIB
    before = program.resident_bytes
    yield
    wait_for(
        lambda: program.resident_bytes < before + most,
        f"the memory to go back to some {before / MIB:.0f} MiB",
        60,
    )
