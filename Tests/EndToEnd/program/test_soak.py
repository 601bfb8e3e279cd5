"""A short run of the soak test; `soak --minutes 60` is the long one."""

import pathlib
import re
import signal
import subprocess
import sys

import pytest

SOAK = pathlib.Path(__file__).resolve().parents[2] / "Tools" / "soak"


@pytest.mark.long
def test_a_short_soak_loses_no_written_points_despite_kills(programs):
    process = subprocess.Popen(
        [sys.executable, SOAK, "--minutes", "0.6", "--programs", programs.folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        output, errors = process.communicate(timeout=600)
    except BaseException:
        # It stops its programs itself.
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        raise
    assert process.returncode == 0, output + errors
    rows = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", output, re.MULTILINE))
    assert int(rows["kills of the exporter"]) >= 1, output
    assert int(rows["restarts of the feed, half of them kills"]) >= 1, output
    assert int(rows["points seen"].replace(",", "")) > 1000, output
    assert rows["points lost that were older than the last write"] == "0", output
