"""Each source's documents become elements of the feed, and the exporter's samples."""

import math
import re
import time

import pytest

from live import sources
from live.conftest import address
from live.sources import HOUR, Answer
from support import metrics
from support.waiting import wait_for

DELHI = "Delhi,28.6139,77.2090,"
PUNE = "Pune,18.5204,73.8567,"


def hour_now() -> int:
    return int(time.time()) // HOUR * HOUR


def steady(values: dict[str, float]):
    return lambda latitude, longitude, pollutant, time_: values.get(pollutant)


AIR = {"pm2_5": 45.0, "pm10": 70.0, "no2": 20.5, "so2": 8.0, "o3": 60.0, "co": 500.0}


def open_meteo(values=AIR):
    return lambda path, query, headers: Answer(sources.open_meteo(query, steady(values)))


def waqi(aqi=68, age: float = 0):
    def answer(path, query, headers):
        latitude, longitude = map(float, path.split(":")[1].strip("/").split(";"))
        iso = (
            time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(hour_now() - age + 8 * HOUR)) + "+08:00"
        )
        return Answer(sources.waqi_station(aqi, iso, latitude, longitude))

    return answer


def openaq(values=AIR):
    units = dict.fromkeys(values, "µg/m³")
    sensors = [
        (number + 1, "pm25" if name == "pm2_5" else name, units[name])
        for number, name in enumerate(values)
    ]

    def answer(path, query, headers):
        if headers.get("x-api-key") != "a-very-secret-key":
            return Answer(
                {
                    "message": "Unauthorized. "
                    "A valid API key must be provided in the X-API-Key header."
                },
                401,
            )
        if path == "/v3/locations":
            return Answer(
                sources.openaq_page([sources.openaq_location(8118, time.time() - 600, sensors)])
            )
        _, name, unit = sensors[int(path.split("/")[3]) - 1]
        value = list(values.values())[int(path.split("/")[3]) - 1]
        return Answer(
            sources.openaq_page(
                [
                    sources.openaq_hour(hour_now() - age * HOUR, value, name, unit)
                    for age in range(25)
                ]
            )
        )

    return answer


def cpcb(old: bool = False, rows: int = 0):
    averages = {"PM2.5": "120", "PM10": "90", "CO": "55", "NO2": "NA", "OZONE": "20"}
    table = sources.cpcb_rows("Delhi", "ITO, Delhi - CPCB", hour_now(), averages, old)
    table += sources.cpcb_rows(
        "Pune",
        "Pashan, Pune - IITM",
        hour_now(),
        {"PM2.5": "60", "SO2": "7", "NH3": "3"},
        old,
        "18.5",
        "73.9",
    )
    for number in range(rows):
        table += sources.cpcb_rows(f"Town {number}", "Station", hour_now(), {"PM10": "9"}, old)

    def answer(path, query, headers):
        if query.get("api-key") != ["a-very-secret-key"]:
            return Answer({"error": "Key not authorised"}, 403)
        assert int(query["limit"][0]) <= 300
        return Answer(sources.cpcb_page(table, query))

    return answer


SOURCES = {
    "open-meteo": (open_meteo(), [], 75, "24h", AIR, 'open-meteo; kind=model; license="CC BY 4.0"'),
    "waqi": (waqi(), [], 68, "given", None, 'waqi; kind=stations; license="aqicn.org/api/tos"'),
    "openaq": (
        openaq(),
        ["--rate=100/1s"],
        75,
        "24h",
        AIR,
        'openaq; kind=stations; license="see openaq.org"',
    ),
    "cpcb": (cpcb(rows=700), [], 120, "given", None, 'cpcb; kind=stations; license="GODL-India"'),
}


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_becomes_a_feed_and_the_exporter_s_samples(
    source, start, serve, listen, cities, key_file
):
    answer, flags, index, basis, pollutants, header = SOURCES[source]
    server = serve(answer)
    bridge = start.feed(
        "poll",
        f"--source={source}",
        f"--base-url={server.url}",
        cities(DELHI, PUNE),
        key_file,
        *flags,
    )
    listener = listen(bridge.url)
    element = listener.wait_for_city("Delhi")
    observed_at = element.pop("time")
    assert observed_at in (hour_now(), hour_now() - HOUR)
    subindices = element.pop("subindices")
    assert max(subindices.values()) == index and set(subindices) <= {
        "pm2_5",
        "pm10",
        "no2",
        "so2",
        "o3",
        "co",
        "nh3",
    }
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

    # A new client hears all that is known at once, not only with the next heartbeat: clients that
    # come within a second share a greeting, which goes on with what was sent after it.
    late = listen(bridge.url)
    wait_for(
        lambda: {e["city"] for m in late.messages for e in m} >= {"Delhi", "Pune"},
        "all that is known",
        5,
    )

    exporter = start.exporter(
        f"--feed.url={bridge.url}",
        "--feed.time-field=time",
        "--feed.pollutants-field=pollutants",
        "--feed.subindices-field=subindices",
        "--feed.place-field=place",
    )
    exporter.wait_for_sample(metrics.INDEX, index, city="Delhi")
    page = exporter.scrape()
    assert page.value("airquality_last_update_timestamp_seconds", city="Delhi") == observed_at
    concentrations = {
        labels["pollutant"]: value
        for labels, value in page.samples(metrics.CONCENTRATION, city="Delhi")
    }
    assert concentrations == (pollutants or {})
    found = {
        labels["pollutant"]: value
        for labels, value in page.samples("airquality_subindex", city="Delhi")
    }
    assert found == subindices
    assert (
        page.value(
            "airquality_city_info", city="Delhi", country="", latitude="28.6139", longitude="77.209"
        )
        == 1
    )
    name, kind, license_ = re.fullmatch(r'(.+); kind=(.+); license="(.+)"', header).groups()
    assert page.value(metrics.SOURCE, source=name, kind=kind, license=license_) == 1

    # What is known of the present hour is not asked for again; the program says who it is, and
    # nothing of the key.
    assert server.requests[0][2]["user-agent"].startswith("air-quality-exporter/")
    assert "gzip" in server.requests[0][2]["accept-encoding"]
    assert bridge.messages == []
    assert "secret" not in "".join(bridge.command)


def indian_pm25(mean: float) -> int:
    """CPCB's table once more, by hand."""
    rows = [
        (0, 30, 0, 50),
        (31, 60, 51, 100),
        (61, 90, 101, 200),
        (91, 120, 201, 300),
        (121, 250, 301, 400),
    ]
    for low, high, first, last in rows:
        if low <= mean <= high:
            return math.floor((last - first) / (high - low) * (mean - low) + first + 0.5)
    raise AssertionError(f"{mean} lies between two classes")


def test_a_day_of_the_server_s_clock(start, serve, listen, cities):
    """24 intervals of a second: each request moves the server's clock on by an hour. The averages
    are computed here as well, and the exporter has a point for each hour."""
    first = hour_now() - 23 * HOUR
    hours = [first + number * HOUR for number in range(-30, 24)]
    # Whole numbers that are in no hole of the table; some hours are missing, never more than eight
    # of a day.
    series = {
        time_: None if number % 5 == 3 else 40.0 + 7 * (number % 4) + number
        for number, time_ in enumerate(hours)
    }
    clock = {"hour": first, "runs": False}

    def answer(path, query, headers):
        if clock["runs"]:
            clock["hour"] = min(clock["hour"] + HOUR, hours[-1])
        names = query["hourly"][0].split(",")
        past = [time_ for time_ in hours if time_ >= clock["hour"] - 47 * HOUR]
        hourly = {
            name: [
                (series[t] if name == "pm2_5" else 1.0) if t <= clock["hour"] else None
                for t in past
            ]
            for name in names
            if name in ("pm2_5", "nitrogen_dioxide", "ozone")
        }
        return Answer(sources.open_meteo_place(28.6, 77.2, past, hourly))

    bridge = start.feed("poll", f"--base-url={serve(answer).url}", cities(DELHI), "--interval=1s")
    exporter = start.exporter(
        f"--feed.url={bridge.url}",
        "--feed.time-field=time",
        "--history.interval=0",
        "--history.capacity=100",
    )
    listener = listen(bridge.url)
    exporter.wait_for_sample("airquality_last_update_timestamp_seconds", first, city="Delhi")
    clock["runs"] = True
    wanted = [first + number * HOUR for number in range(24)]
    listener.wait_for(
        lambda elements: {e["time"] for e in elements} >= set(wanted), "24 hours", 120
    )
    indices = {e["time"]: e["aqi"] for e in listener.elements}
    for time_ in wanted:
        window = [series[t] for t in hours if time_ - 24 * HOUR < t <= time_]
        present = [value for value in window if value is not None]
        assert len(window) == 24 and 16 <= len(present) < 24
        mean = sum(present) / len(present)
        if any(low < mean < low + 1 for low in (30, 60, 90, 120)):
            continue
        assert indices[time_] == indian_pm25(mean), time_
    assert len({indices[time_] for time_ in wanted}) > 10
    exporter.wait_for_sample("airquality_last_update_timestamp_seconds", wanted[-1], city="Delhi")
    points = {
        point["time_ms"] // 1000: point["aqi"] for point in exporter.history(city="Delhi")["points"]
    }
    assert {time_: points.get(time_) for time_ in wanted} == {
        time_: indices[time_] for time_ in wanted
    }


def test_through_a_proxy(start, serve, listen, cities):
    """The proxy that the environment names is asked for the source, whose name it alone knows."""
    proxy = serve(open_meteo())
    bridge = start.program(
        "air-quality-feed",
        "poll",
        "--listen=127.0.0.1:0",
        "--base-url=http://source.invalid",
        cities(DELHI),
        environment={"http_proxy": proxy.url},
    )
    assert listen(address(bridge)).wait_for_city("Delhi")["aqi"] == 75
    assert proxy.requests[0][0].startswith("http://source.invalid/")


def test_the_key_from_the_environment(start, serve, listen, cities):
    bridge = start.program(
        "air-quality-feed",
        "poll",
        "--listen=127.0.0.1:0",
        "--source=openaq",
        f"--base-url={serve(openaq()).url}",
        cities(DELHI),
        "--rate=100/1s",
        environment={"AIR_QUALITY_FEED_KEY": "a-very-secret-key"},
    )
    assert listen(address(bridge)).wait_for_city("Delhi")["aqi"] == 75


@pytest.mark.parametrize(
    "source, key, host",
    [
        ("open-meteo", "", "air-quality-api.open-meteo.com"),
        ("open-meteo", "a-very-secret-key", "customer-air-quality-api.open-meteo.com"),
        ("cpcb", "", "airquality.cpcb.gov.in"),
        ("cpcb", "a-very-secret-key", "api.data.gov.in"),
    ],
)
def test_a_key_goes_to_the_host_for_those_who_have_one(start, serve, cities, source, key, host):
    proxy = serve(lambda *_: Answer())
    bridge = start.program(
        "air-quality-feed",
        "poll",
        "--listen=127.0.0.1:0",
        f"--source={source}",
        cities(DELHI),
        "--timeout=2s",
        environment={"AIR_QUALITY_FEED_KEY": key, "https_proxy": proxy.url},
    )
    # The proxy refuses CONNECT, which names the host.
    wait_for(lambda: proxy.requests and bridge.messages, "the line")
    assert {path for path, _, _ in proxy.requests} == {f"{host}:443"}
    assert not any("secret" in line for line in bridge.messages)
