"""The dashboards, and the programs that their queries are sent to."""

import shutil

import pytest

from grafana import stack
from grafana.dashboards import read_dashboards


@pytest.fixture(scope="session")
def dashboards() -> dict[str, dict]:
    return read_dashboards()


@pytest.fixture(scope="session")
def running(programs) -> stack.Stack:
    if not shutil.which("prometheus"):
        pytest.skip("no prometheus: install Debian's package prometheus")
    with stack.start(programs) as found:
        yield found
