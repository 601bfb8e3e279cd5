"""The memory that an attack may leave in use."""

import contextlib
import os

from support.programs import Program
from support.waiting import wait_for

MIB = 1 << 20
#: Whether the programs run with a sanitizer, which takes memory of its own and time.
IS_SANITIZED = "AIRQUALITY_SLOW" in os.environ


def within(mebibytes: int) -> int:
    """A limit in bytes, eight times as high with a sanitizer."""
    return (8 if IS_SANITIZED else 1) * mebibytes * MIB


@contextlib.contextmanager
def returns_memory(program: Program):
    """The program's resident memory returns to within 32 MiB of what it was before; with a
    sanitizer to within 512, because its allocator keeps much of what is freed."""
    most = (512 if IS_SANITIZED else 32) * MIB
    before = program.resident_bytes
    yield
    wait_for(
        lambda: program.resident_bytes < before + most,
        f"the memory to go back to some {before / MIB:.0f} MiB",
        60,
    )
