"""Third-party programs, run to their end."""

import pathlib
import shutil
import subprocess

import pytest


def run(*command, **options) -> str:
    """The output of a command, which must not fail."""
    result = subprocess.run(command, capture_output=True, text=True, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def preload(folder: pathlib.Path, source: str) -> dict[str, str]:
    """The environment in which a program first loads a library that is made from this C."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler is installed")
    (folder / "library.c").write_text(source)
    library = folder / "library.so"
    run("cc", "-shared", "-fPIC", "-o", library, folder / "library.c", "-ldl")
    return {"LD_PRELOAD": str(library)}
