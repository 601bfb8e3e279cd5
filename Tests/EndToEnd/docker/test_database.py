"""Beyond one machine: the scrape configuration of docker/database with Debian's vmagent and two
databases, which deduplicate two identical exporters. Every city is counted exactly once, even while
an exporter and a database are down, and scrapers can share a page."""

import json
import pathlib
import re
import shutil
import time
import urllib.parse
import urllib.request

import pytest
import yaml

from docker.engine import REPOSITORY
from support.load import Load, changing
from support.programs import free_ports
from support.waiting import wait_for

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


def test_two_scrapers_share_the_cities_of_a_page_by_their_hash(start, busy_feed, tmp_path):
    """With the configuration in docker/README.md."""
    text = (REPOSITORY / "docker/README.md").read_text()
    shown = re.search(r"```yaml\n( +metric_relabel_configs:.*?)```", text, re.DOTALL)[1]
    assert 'regex: "0"' in shown
    exporter = start.exporter("--feed.url", busy_feed.url)

    def scraper(number: int):
        folder = tmp_path / str(number)
        folder.mkdir()
        job = yaml.safe_load(shown.replace('regex: "0"', f'regex: "{number}"'))
        job |= {"job_name": "aqi", "static_configs": [{"targets": [exporter.address]}]}
        return start.prometheus(folder, scrape_configs=[job])

    scrapers = [scraper(number) for number in range(2)]

    def series(metric: str) -> list[list[dict]]:
        return [[each["metric"] for each in one.query(metric)] for one in scrapers]

    def cities() -> list[str]:
        return sorted(each["city"] for each in sum(series("airquality_index"), []))

    wait_for(lambda: cities() == sorted(CITIES), "every city once", 30, 0.2)
    assert all(series("airquality_index")), "one scraper has all cities"
    assert sum(map(bool, series("airquality_exporter_build_info"))) == 1
    assert {name for one in series("airquality_index") for each in one for name in each} == {
        "__name__", "city", "instance", "job"
    }


def agent_configuration(exporters: list, folder: pathlib.Path) -> pathlib.Path:
    """The file of the compose profile, with these exporters in place of container names."""
    shipped = yaml.safe_load((REPOSITORY / "docker/database/vmagent.yml").read_text())
    shipped["global"] = {"scrape_interval": f"{INTERVAL}s", "scrape_timeout": f"{INTERVAL}s"}
    (job,) = shipped["scrape_configs"]
    (targets,) = job["static_configs"]
    assert len(targets["targets"]) == len(exporters)
    targets["targets"] = [each.address for each in exporters]
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

    def exporter(address: str = "127.0.0.1:0"):
        return start.exporter("--feed.url", busy_feed.url, listen=address)

    exporters = [exporter(), exporter()]
    start.program(
        shutil.which("vmagent"), f"-promscrape.config={agent_configuration(exporters, tmp_path)}",
        "-promscrape.noStaleMarkers",
        f"-remoteWrite.url=http://127.0.0.1:{first.port}/api/v1/write",
        f"-remoteWrite.url=http://127.0.0.1:{second.port}/api/v1/write",
        f"-remoteWrite.tmpDataPath={tmp_path / 'buffer'}", f"-httpListenAddr=127.0.0.1:{ports[2]}",
    )

    def is_exact(database: Database) -> bool:
        """Whether each city has one series."""
        found = [each["metric"]["city"] for each in database.query("airquality_index")]
        assert len(found) == len(set(found)), "a city is counted twice"
        return sorted(found) == sorted(CITIES)

    for database in (first, second):
        wait_for(lambda: is_exact(database), "every city once", 30, 0.2)  # noqa: B023

    # Counters and whatever else differs between the exporters stay apart.
    assert first.number("count(airquality_exporter_feed_messages_total)") == len(exporters)

    # One exporter goes down; the other one keeps the cities.
    address = exporters[0].address
    exporters[0].kill()
    wait_for(lambda: first.number("count(up == 0)") == 1, "a target that is down", 20, 0.2)
    assert is_exact(first) and is_exact(second)

    # A database goes down as well; the agent buffers what it misses.
    second.program.kill()
    died = time.time()
    wait_for(lambda: time.time() - died > 3 * INTERVAL and is_exact(first), "some scrapes", 20, 0.2)

    second.start()
    exporter(address)
    wait_for(lambda: first.number("count(up == 1)") == len(exporters), "both targets", 20, 0.2)
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
