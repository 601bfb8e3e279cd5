"""Fixtures: the built programs and the peers they talk to, each on a port of its own and gone after the test."""

import pathlib
import shutil

import pytest

from fault_table import FaultTable
from peers import Prometheus, WebSocketFeed
from programs import Exporter, Feed, Program, Programs

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pytest_addoption(parser):
    parser.addoption("--programs", default=str(ROOT / ".build" / "debug"), help="folder of the built programs")


@pytest.fixture(scope="session")
def programs(request) -> Programs:
    folder = pathlib.Path(request.config.getoption("--programs")).resolve()
    for name in ("air-quality-exporter", "air-quality-feed"):
        if not (folder / name).exists():
            pytest.exit(f"{folder / name} is not built: run swift build", returncode=2)
    return Programs(folder)


@pytest.fixture(scope="session")
def table(request) -> FaultTable:
    """Printed at the end of the run."""
    table = FaultTable()
    request.config.pluginmanager.register(table)
    return table


@pytest.fixture
def python_feed():
    feed = WebSocketFeed()
    yield feed
    feed.stop()


@pytest.fixture
def start(programs):
    """Starts programs and stops them after the test; a program that ended with an error fails it."""
    started = []

    class Start:
        def exporter(self, *flags: str, **options) -> Exporter:
            return self._keep(programs.exporter(*flags, **options))

        def feed(self, *arguments: str, **options) -> Feed:
            return self._keep(programs.feed(*arguments, **options))

        def program(self, name: str, *arguments: str) -> Program:
            return self._keep(Program([str(programs.folder / name), *arguments]))

        def prometheus(self, folder: pathlib.Path, *targets: str, **options) -> Prometheus:
            if shutil.which("prometheus") is None:
                pytest.skip("prometheus is not installed")
            return self._keep(Prometheus(folder, targets, **options))

        def _keep(self, program):
            started.append(program)
            return program

    yield Start()
    failures = []
    for program in reversed(started):
        failure = program.stop()
        if failure:
            failures.append(failure)
    assert not failures, "\n".join(failures)
