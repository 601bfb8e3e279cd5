"""A browser for the tests of the page, and an exporter on a feed that the test controls."""

import dataclasses
import time

import pytest

from support.browser import CHROMIUM, DRIVER
from support.peers import WebSocketFeed
from support.programs import Exporter


@pytest.fixture(scope="session")
def chromium():
    """One browser for all tests of a run, because it takes seconds to start."""
    if not CHROMIUM or not DRIVER:
        pytest.skip("chromium and chromium-driver are not installed: make test-deps")
    from support.browser import Browser

    browser = Browser()
    yield browser
    browser.quit()


@pytest.fixture
def browser(chromium):
    """Starts on an empty page. Console errors that a test does not fetch by `errors()` fail it."""
    chromium.allow_script(True)
    chromium.show()
    chromium.open("about:blank")
    chromium.errors()
    yield chromium
    complaints = chromium.errors()
    chromium.open("about:blank")
    assert complaints == [], complaints


@pytest.fixture(params=[True, False], ids=["with script", "without script"])
def reader(browser, request):
    """The browser, once with JavaScript and once without."""
    browser.allow_script(request.param)
    return browser


@dataclasses.dataclass
class Air:
    """A feed that the test controls, and the exporter that shows its readings."""

    feed: WebSocketFeed
    exporter: Exporter

    @property
    def address(self) -> str:
        return f"http://{self.exporter.address}"

    def say(self, age: float = 0, **cities: float) -> None:
        self.send({name.replace("_", " "): aqi for name, aqi in cities.items()}, age)

    def send(self, cities: dict[str, float], age: float = 0) -> None:
        now = time.time() - age
        self.feed.send([{"city": name, "aqi": aqi, "time": now} for name, aqi in cities.items()])

    def wait_for_cities(self, count: int) -> None:
        self.exporter.wait_for_sample("airquality_exporter_cities", count)


@pytest.fixture
def start_air(start, python_feed):
    """Starts an exporter on the test's feed, which sends times, and waits until it has the cities;
    each reading becomes a point."""

    def start_air(*flags: str, cities: dict[str, float] = {}, **options) -> Air:
        own = ("--feed.time-field=time", "--history.interval=0")
        air = Air(python_feed, start.reader(python_feed, *own, *flags, **options))
        if cities:
            air.send(cities)
            air.wait_for_cities(len(cities))
        return air

    return start_air


#: Index, latitude and longitude of each city.
INDIA = {
    "Delhi": (318.9, 28.65, 77.23),
    "Kolkata": (250.5, 22.57, 88.36),
    "Mumbai": (152.0, 19.08, 72.88),
    "Chennai": (140.25, 13.09, 80.28),
    "Lucknow": (76.12, 26.84, 80.92),
    "Indore": (49.5, 22.72, 75.83),
}
# Flags for the extra fields that `air-quality-feed poll` sends.
EXTRAS = tuple(f"--feed.{name}-field={name}" for name in ("pollutants", "subindices", "place"))


def element(name: str, aqi: float, time: float) -> dict:
    """An element as `air-quality-feed poll` sends it, with PM2.5 as the main pollutant."""
    return {
        "city": name,
        "aqi": aqi,
        "time": time,
        "pollutants": {"pm2_5": aqi / 2, "no2": 8.24, "co": 1234.5},
        "subindices": {"pm2_5": aqi, "pm10": aqi * 0.8, "co": 45},
        "place": {"latitude": INDIA[name][1], "longitude": INDIA[name][2], "country": "IN"},
    }


@pytest.fixture
def air(start_air) -> Air:
    """Six cities with three points each, the last a few seconds old, and their pollutants."""
    grafana = "--web.grafana-url=https://grafana.example/"
    air = start_air("--web.enable-lifecycle", grafana, *EXTRAS)
    now = time.time()
    for age, change in ((600, 8), (300, -4), (3, 0)):
        air.feed.send(
            [element(name, aqi + change, now - age) for name, (aqi, *_) in INDIA.items()]
        )
    air.wait_for_cities(len(INDIA))
    air.exporter.wait_for_sample("airquality_exporter_history_points", 3 * len(INDIA))
    return air
