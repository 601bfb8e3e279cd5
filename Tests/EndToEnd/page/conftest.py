"""A browser for the tests of the page, and an exporter on a feed that the test speaks for."""

import dataclasses
import time

import pytest

from support.browser import CHROMIUM, DRIVER
from support.peers import WebSocketFeed
from support.programs import Exporter


@pytest.fixture(scope="session")
def chromium():
    """One for all tests of a run; it takes seconds to start."""
    if not CHROMIUM or not DRIVER:
        pytest.skip("chromium and chromium-driver are not installed: make test-deps")
    from support.browser import Browser

    browser = Browser()
    yield browser
    browser.quit()


@pytest.fixture
def browser(chromium):
    """With an empty page at first. What pages complain about fails a test without `errors()`."""
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
    """The browser, once as most have it and once without JavaScript."""
    browser.allow_script(request.param)
    return browser


@dataclasses.dataclass
class Air:
    """What the feed has said, and where it is shown."""

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
def breathe(start, python_feed):
    """Starts an exporter on the test's feed, which gives the times; each reading is a point."""

    def breathe(*flags: str, **options) -> Air:
        exporter = start.exporter(
            "--feed.url",
            python_feed.url,
            "--feed.time-field",
            "time",
            "--history.interval",
            "0",
            *flags,
            **options,
        )
        python_feed.wait_for_client()
        return Air(python_feed, exporter)

    return breathe


INDIA = {
    "Delhi": 318.9,
    "Kolkata": 250.5,
    "Mumbai": 152.0,
    "Chennai": 140.25,
    "Lucknow": 76.12,
    "Indore": 49.5,
}


PLACES = {
    "Delhi": (28.65, 77.23),
    "Kolkata": (22.57, 88.36),
    "Mumbai": (19.08, 72.88),
    "Chennai": (13.09, 80.28),
    "Lucknow": (26.84, 80.92),
    "Indore": (22.72, 75.83),
}

# What `air-quality-feed poll` sends is read with these.
EXTRAS = (
    "--feed.pollutants-field",
    "pollutants",
    "--feed.subindices-field",
    "subindices",
    "--feed.place-field",
    "place",
)


def element(name: str, aqi: float, place: tuple[float, float], time: float) -> dict:
    """A city whose air is bad because of fine dust, as `air-quality-feed poll` would say it."""
    return {
        "city": name,
        "aqi": aqi,
        "time": time,
        "pollutants": {"pm2_5": aqi / 2, "no2": 8.24, "co": 1234.5},
        "subindices": {"pm2_5": aqi, "pm10": aqi * 0.8, "co": 45},
        "place": {"latitude": place[0], "longitude": place[1], "country": "IN"},
    }


@pytest.fixture
def air(breathe) -> Air:
    """Six cities with three points each, the last a few seconds old, and their pollutants."""
    air = breathe(
        "--web.enable-lifecycle", "--web.grafana-url", "https://grafana.example/", *EXTRAS
    )
    now = time.time()
    for age, change in ((600, 8), (300, -4), (3, 0)):
        air.feed.send(
            [element(name, aqi + change, PLACES[name], now - age) for name, aqi in INDIA.items()]
        )
    air.wait_for_cities(len(INDIA))
    air.exporter.wait_for_sample("airquality_exporter_history_points", 3 * len(INDIA))
    return air
