"""Documents of each source become elements of the feed and samples of the exporter."""

import re
import time

import pytest

from live import sources
from live.sources import HOUR, Response, hour_now
from support import metrics
from support.waiting import wait_for

DELHI = "Delhi,28.6139,77.2090,"
PUNE = "Pune,18.5204,73.8567,"


def steady(values: dict[str, float]):
    return lambda latitude, longitude, pollutant, time_: values.get(pollutant)


AIR = {"pm2_5": 45.0, "pm10": 70.0, "no2": 20.5, "so2": 8.0, "o3": 60.0, "co": 500.0}


def open_meteo(values=AIR):
    return lambda path, query, headers: Response(sources.open_meteo(query, steady(values)))


def waqi():
    def respond(path, query, headers):
        latitude, longitude = map(float, path.split(":")[1].strip("/").split(";"))
        iso = time.strftime("%Y-%m-%dT%H:%M:%S+08:00", time.gmtime(hour_now() + 8 * HOUR))
        return Response(sources.waqi_station(68, iso, latitude, longitude))

    return respond


def openaq():
    sensors = [
        (number, "pm25" if name == "pm2_5" else name, "µg/m³")
        for number, name in enumerate(AIR, start=1)
    ]

    def respond(path, query, headers):
        if headers.get("x-api-key") != "a-very-secret-key":
            return Response({"message": "Unauthorized. A valid API key must be provided."}, 401)
        if path == "/v3/locations":
            location = sources.openaq_location(8118, time.time() - 600, sensors)
            return Response(sources.openaq_page([location]))
        number = int(path.split("/")[3]) - 1
        value, what = list(AIR.values())[number], sensors[number][1:]
        ends = [hour_now() - age * HOUR for age in range(25)]
        return Response(
            sources.openaq_page([sources.openaq_hour(end, value, *what) for end in ends])
        )

    return respond


def cpcb():
    """700 towns beside the two cities, which makes three pages."""
    delhi = {"PM2.5": "120", "PM10": "90", "CO": "55", "NO2": "NA", "OZONE": "20"}
    pune = {"PM2.5": "60", "SO2": "7", "NH3": "3"}
    rows = sources.cpcb_rows("Delhi", "ITO, Delhi - CPCB", delhi)
    rows += sources.cpcb_rows("Pune", "Pashan, Pune - IITM", pune, "18.5", "73.9")
    for number in range(700):
        rows += sources.cpcb_rows(f"Town {number}", "Station", {"PM10": "9"})

    def respond(path, query, headers):
        if query.get("api-key") != ["a-very-secret-key"]:
            return Response({"error": "Key not authorised"}, 403)
        assert int(query["limit"][0]) <= 300
        return Response(sources.cpcb_page(rows, query))

    return respond


OPENAQ_HEADER = 'openaq; kind=stations; license="see openaq.org"'
SOURCES = {
    "open-meteo": (open_meteo(), [], 75, "24h", AIR, 'open-meteo; kind=model; license="CC BY 4.0"'),
    "waqi": (waqi(), [], 68, "given", None, 'waqi; kind=stations; license="aqicn.org/api/tos"'),
    "openaq": (openaq(), ["--rate=100/1s"], 75, "24h", AIR, OPENAQ_HEADER),
    "cpcb": (cpcb(), [], 120, "given", None, 'cpcb; kind=stations; license="GODL-India"'),
}


@pytest.mark.parametrize("source", SOURCES)
def test_the_data_of_a_source_become_elements_of_the_feed_and_samples(
    source, start, serve, listen, cities, key_file
):
    respond, flags, index, basis, pollutants, header = SOURCES[source]
    server = serve(respond)
    flags = [f"--base-url={server.url}", cities(DELHI, PUNE), key_file, *flags]
    feed = start.feed("poll", f"--source={source}", *flags)
    listener = listen(feed.url)
    element = listener.wait_for_city("Delhi")
    observed_at = element.pop("time")
    assert observed_at in (hour_now(), hour_now() - HOUR)
    subindices = element.pop("subindices")
    assert max(subindices.values()) == index and set(subindices) <= {*AIR, "nh3"}
    expected = {
        "city": "Delhi",
        "aqi": index,
        "basis": basis,
        "place": {"latitude": 28.6139, "longitude": 77.209},
    }
    expected |= {"pollutants": pollutants} if pollutants else {}
    expected |= {"attribution": "World Air Quality Index Project"} if source == "waqi" else {}
    assert element == expected
    assert listener.source == header
    listener.wait_for_city("Pune")

    # A new client gets all known elements at once, not only with the next heartbeat: clients that
    # connect within a second share a greeting, which continues with what was sent after it.
    listen(feed.url).wait_for(
        lambda elements: {e["city"] for e in elements} >= {"Delhi", "Pune"}, "all that is known", 5
    )

    exporter = start.exporter(f"--feed.url={feed.url}")
    exporter.wait_for_sample(metrics.INDEX, index, city="Delhi")
    page = exporter.scrape()
    assert page.value("airquality_last_update_timestamp_seconds", city="Delhi") == observed_at
    assert page.by(metrics.CONCENTRATION, "pollutant", city="Delhi") == (pollutants or {})
    assert page.by("airquality_subindex", "pollutant", city="Delhi") == subindices
    place = {"country": "", "latitude": "28.6139", "longitude": "77.209"}
    assert page.value("airquality_city_info", city="Delhi", **place) == 1
    name, kind, license_ = re.fullmatch(r'(.+); kind=(.+); license="(.+)"', header).groups()
    assert page.value(metrics.SOURCE, source=name, kind=kind, license=license_) == 1

    # Known data of the current hour are not requested again; requests name the program, and the
    # key is not revealed.
    assert server.requests[0][2]["user-agent"].startswith("air-quality-exporter/")
    assert "gzip" in server.requests[0][2]["accept-encoding"]
    assert feed.messages == []
    assert "secret" not in "".join(feed.command)


def test_a_proxy_from_the_environment_is_used(start, serve, listen, cities):
    """Only the proxy can resolve the name of the source."""
    proxy = serve(open_meteo())
    flags = ("--base-url=http://source.invalid", cities(DELHI))
    feed = start.feed("poll", *flags, environment={"http_proxy": proxy.url})
    assert listen(feed.url).wait_for_city("Delhi")["aqi"] == 75
    assert proxy.requests[0][0].startswith("http://source.invalid/")


@pytest.mark.parametrize(
    "source, key, host",
    [
        ("open-meteo", "", "air-quality-api.open-meteo.com"),
        ("open-meteo", "a-very-secret-key", "customer-air-quality-api.open-meteo.com"),
        ("cpcb", "", "airquality.cpcb.gov.in"),
        ("cpcb", "a-very-secret-key", "api.data.gov.in"),
    ],
)
def test_the_host_of_a_source_depends_on_the_key(start, serve, cities, source, key, host):
    proxy = serve(lambda *_: Response())
    environment = {"AIR_QUALITY_FEED_KEY": key, "https_proxy": proxy.url}
    flags = (f"--source={source}", cities(DELHI), "--timeout=2s")
    feed = start.feed("poll", *flags, environment=environment)
    # The proxy rejects CONNECT, which names the host.
    wait_for(lambda: proxy.requests and feed.messages, "the line")
    assert {path for path, _, _ in proxy.requests} == {f"{host}:443"}
    assert not any("secret" in line for line in feed.messages)
