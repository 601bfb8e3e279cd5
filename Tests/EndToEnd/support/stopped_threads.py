"""Stops one thread of another process, which a signal cannot: with ptrace, as a debugger does."""

import contextlib
import ctypes
import os
import pathlib

SEIZE, INTERRUPT = 0x4206, 0x4207
#: An option of waitpid: threads that are not children as well.
ALL = 0x40000000


def find(process: int, name: str) -> int:
    """The thread with that name."""
    tasks = pathlib.Path(f"/proc/{process}/task").iterdir()
    found = [int(task.name) for task in tasks if (task / "comm").read_text().strip() == name]
    assert len(found) == 1, f"threads named {name}: {found}"
    return found[0]


def stop(thread: int) -> None:
    """Stops the thread until this process ends or `forget`s it. PermissionError if ptrace is not
    allowed."""
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    ptrace.restype = ctypes.c_long
    for request in (SEIZE, INTERRUPT):
        if ptrace(request, thread, None, None) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    os.waitpid(thread, ALL)


def forget(thread: int) -> None:
    """Reaps the thread, without which its process does not end for the one that stopped it."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(thread, ALL | os.WNOHANG)
