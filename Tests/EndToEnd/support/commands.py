"""Programs of others, run to their end."""

import subprocess


def run(*command, **options) -> str:
    """What a command prints; it must not fail."""
    result = subprocess.run(command, capture_output=True, text=True, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout
