"""Fixtures: the built programs and the peers they talk to, each on its own port and stopped after
the test."""

import pathlib
import re
import shutil
import signal

import pytest

# So that assertions in helpers show their values as those in tests do.
pytest.register_assert_rewrite("support", "grafana")

from support import fault_table, flaky  # noqa: E402
from support.certificates import CertificateAuthority  # noqa: E402
from support.peers import Prometheus, WebSocketFeed  # noqa: E402
from support.programs import Exporter, Feed, Program, Programs  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pytest_addoption(parser):
    parser.addoption(
        "--programs", default=str(ROOT / ".build" / "release"), help="folder of the built programs"
    )
    parser.addoption(
        "--again", metavar="FILE", help="name what passes now in FILE: it failed in the run before"
    )


def pytest_configure(config):
    # Shells make background processes ignore SIGINT, which their programs inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(fault_table.Plugin())
    if again := config.getoption("--again"):
        config.pluginmanager.register(flaky.Plugin(pathlib.Path(again)))


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    if hasattr(session.config, "workerinput"):
        return
    # pytest-xdist appends @GROUP to a test's name, so --last-failed would not find it.
    failed = session.config.cache.get("cache/lastfailed", {})
    names = [re.sub(r"@[^@\]]*$", "", name) for name in failed]
    session.config.cache.set("cache/lastfailed", dict.fromkeys(names, True))


@pytest.fixture(scope="session")
def programs(request) -> Programs:
    folder = pathlib.Path(request.config.getoption("--programs")).resolve()
    for name in ("air-quality-exporter", "air-quality-feed"):
        if not (folder / name).exists():
            pytest.exit(
                f"{folder / name} is not built: run make build, or give --programs FOLDER",
                returncode=2,
            )
    return Programs(folder)


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> CertificateAuthority:
    """The trusted authority of the tests."""
    return CertificateAuthority(tmp_path_factory.mktemp("certificates") / "known")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory) -> CertificateAuthority:
    """An authority that nobody trusts."""
    return CertificateAuthority(tmp_path_factory.mktemp("certificates") / "unknown")


@pytest.fixture
def python_feed():
    with WebSocketFeed() as feed:
        yield feed


@pytest.fixture
def start(programs):
    """Starts programs and stops them after the test; a program that ended with an error fails
    it."""
    started = []

    class Start:
        def exporter(self, *flags: str, **options) -> Exporter:
            return self._keep(programs.exporter(*flags, **options))

        def reader(self, feed: WebSocketFeed, *flags: str, **options) -> Exporter:
            """An exporter that is connected to the feed."""
            exporter = self.exporter("--feed.url", feed.url, *flags, **options)
            feed.wait_for_client()
            return exporter

        def feed(self, *arguments: str, **options) -> Feed:
            return self._keep(programs.feed(*arguments, **options))

        def program(self, name: str, *arguments: str, **options) -> Program:
            return self._keep(programs.start(name, *arguments, **options))

        def prometheus(self, folder: pathlib.Path, *targets: str, **options) -> Prometheus:
            if shutil.which("prometheus") is None:
                pytest.skip("prometheus is not installed")
            return self._keep(Prometheus(folder, targets, **options))

        def _keep(self, program):
            started.append(program)
            return program

    yield Start()
    failures = [failure for program in reversed(started) if (failure := program.stop())]
    assert not failures, "\n".join(failures)
