"""Beyond one machine: the scrape configuration of docker/cluster with Debian's vmagent and two
databases, four shards of two identical exporters. Every city is counted exactly once, even while
an exporter and a database are down."""

import json
import pathlib
import shutil
import time
import urllib.parse
import urllib.request

import pytest
import yaml

from docker.engine import REPOSITORY
from support.load import Load, changing
from support.programs import free_ports
from support.shards import shard
from support.waiting import wait_for

SHARDS, REPLICAS = 4, 2
CITIES = [f"City {number}" for number in range(60)]
INTERVAL = 1


class Database:
    """A VictoriaMetrics that deduplicates, and queries of it."""

    def __init__(self, start, folder: pathlib.Path, port: int):
        self._start, self._folder, self.port = start, folder, port
        self.start()

    def start(self) -> None:
        self.program = self._start.program(
            shutil.which("victoria-metrics"),
            f"-storageDataPath={self._folder}",
            f"-httpListenAddr=127.0.0.1:{self.port}",
            f"-dedup.minScrapeInterval={INTERVAL}s",
        )
        wait_for(lambda: self.get("/health"), "a database", 60)

    def get(self, path: str, **parameters) -> bytes:
        address = f"http://127.0.0.1:{self.port}{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(address, timeout=10) as response:
            return response.read()

    def query(self, expression: str) -> list[dict]:
        response = json.loads(self.get("/api/v1/query", query=expression, nocache=1))
        return response["data"]["result"]

    def number(self, expression: str) -> float:
        found = self.query(expression)
        return float(found[0]["value"][1]) if found else 0


@pytest.fixture
def busy_feed(python_feed):
    """A feed that sends every city each half second."""
    with Load(python_feed, changing(len(CITIES)), 0.5):
        yield python_feed


def agent_configuration(exporters: dict[int, list], folder: pathlib.Path) -> pathlib.Path:
    """The file of the compose profile, with these exporters in place of container names."""
    shipped = yaml.safe_load((REPOSITORY / "docker/cluster/vmagent.yml").read_text())
    shipped["global"] = {"scrape_interval": f"{INTERVAL}s", "scrape_timeout": f"{INTERVAL}s"}
    (job,) = shipped["scrape_configs"]
    (names,) = job.pop("dns_sd_configs")
    assert names["names"] == [f"shard-{index}" for index in range(SHARDS)]
    job["static_configs"] = [
        {
            "targets": [each.address for each in exporters[index]],
            "labels": {"__meta_dns_name": f"shard-{index}"},
        }
        for index in range(SHARDS)
    ]
    file = folder / "vmagent.yml"
    file.write_text(json.dumps(shipped))
    return file


@pytest.mark.long
def test_every_city_is_counted_once_while_an_exporter_and_a_database_restart(
    start, busy_feed, tmp_path
):
    for program in ("vmagent", "victoria-metrics"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed: apt-get install victoria-metrics")
    ports = free_ports(3)
    first, second = (Database(start, tmp_path / str(port), port) for port in ports[:2])

    def exporter(index: int, address: str = "127.0.0.1:0"):
        flags = ("--feed.url", busy_feed.url, "--city.shard", f"{index}/{SHARDS}")
        return start.exporter(*flags, listen=address)

    exporters = {index: [exporter(index) for _ in range(REPLICAS)] for index in range(SHARDS)}
    start.program(
        shutil.which("vmagent"), f"-promscrape.config={agent_configuration(exporters, tmp_path)}",
        "-promscrape.noStaleMarkers",
        f"-remoteWrite.url=http://127.0.0.1:{first.port}/api/v1/write",
        f"-remoteWrite.url=http://127.0.0.1:{second.port}/api/v1/write",
        f"-remoteWrite.tmpDataPath={tmp_path / 'buffer'}", f"-httpListenAddr=127.0.0.1:{ports[2]}",
    )

    def is_exact(database: Database) -> bool:
        """Whether each city has one series, which comes from its shard."""
        found = database.query("airquality_index")
        instances = {each["metric"]["city"]: each["metric"]["instance"] for each in found}
        wanted = {name: f"shard-{shard(name, SHARDS)}" for name in CITIES}
        assert len(found) <= len(CITIES), "a city is counted twice"
        return instances == wanted

    for database in (first, second):
        wait_for(lambda: is_exact(database), "every city once", 30, 0.2)  # noqa: B023

    # One exporter of a shard goes down; the other one keeps its cities.
    lost = exporters[2][0]
    address = lost.address
    lost.kill()
    wait_for(lambda: first.number("count(up == 0)") == 1, "a target that is down", 20, 0.2)
    assert is_exact(first) and is_exact(second)

    # A database goes down as well; the agent buffers what it misses.
    second.program.kill()
    died = time.time()
    wait_for(lambda: time.time() - died > 3 * INTERVAL and is_exact(first), "some scrapes", 20, 0.2)

    second.start()
    exporter(2, address)
    wait_for(lambda: first.number("count(up == 1)") == SHARDS * REPLICAS, "all targets", 20, 0.2)
    news = f'changes(airquality_index{{city="{CITIES[0]}"}}[{3 * INTERVAL}s]) > 0'
    wait_for(lambda: second.query(news), "news in the database", 20, 0.2)
    assert is_exact(first) and is_exact(second)
    # Only data that it had not yet written was lost, and one of two samples is kept.
    window = int(time.time() - died)
    for database in (first, second):
        counts = database.query(f"count_over_time(airquality_index[{window}s])")
        samples = [float(each["value"][1]) for each in counts]
        assert len(samples) == len(CITIES)
        assert max(samples) <= window / INTERVAL + 1, "samples of both exporters are kept"
