"""Recorded responses of the services, and the elements that result.

Each row names the recording that its figures were taken from; the documents were rewritten with the
time moved to now.
"""

import time

import pytest

from live import sources
from live.sources import HOUR, Response, hour_now
from support.waiting import wait_for

# WAQI, joostlek/python-waqi@9cf590e tests/fixtures/: the station's own number, place, index,
# sub-indices, agencies other than WAQI.
WAQI = {
    "city_feed_utrecht.json": (
        "@1437", (52.101308, 5.128183), 29,
        {"no2": 0.7, "o3": 29.4, "pm10": 12, "pm25": 1, "so2": 0.1, "t": 17.5}, ["RIVM"],
    ),
    # The index is that of ozone, although the station gives a greater one for PM2.5.
    "city_feed_olivias.json": (
        "", (38.768889, -9.108056), 8,
        {"dew": 18, "no2": 29.7, "o3": 7.8, "pm10": 27, "pm25": 51, "so2": 2.5},
        ["Agencia Portuguesa do Ambiente", "European Environment Agency"],
    ),
}


@pytest.mark.parametrize("id_, place, aqi, values, agencies", WAQI.values(), ids=WAQI)
def test_the_index_of_waqi_is_passed_on_unchanged(
    id_, place, aqi, values, agencies, start, serve, listen, cities, key_file
):
    iso = time.strftime("%Y-%m-%dT%H:%M:%S+01:00", time.gmtime(hour_now() + HOUR))
    document = sources.waqi_station(aqi, iso, *place)
    names = [*agencies, "World Air Quality Index Project"]
    document["data"] |= {
        "iaqi": {name: {"v": value} for name, value in values.items()},
        "attributions": [{"url": "https://x/", "name": name} for name in names],
    }
    url, city = serve(lambda *_: Response(document)).url, f"There,{place[0]},{place[1]},{id_}"
    feed = start.feed("poll", "--source=waqi", f"--base-url={url}", key_file, cities(city))
    element = listen(feed.url).wait_for_city("There")
    assert (element["aqi"], element["attribution"]) == (aqi, "; ".join(names))
    expected = values | {"pm2_5": values["pm25"]}
    assert element["subindices"] == {
        name: expected[name] for name in ("no2", "o3", "pm10", "pm2_5", "so2")
    }
    assert element["time"] in (hour_now(), hour_now() - HOUR)


# frenck/python-open-meteo@11bdc94 tests/fixtures/air_quality.json: 3 October 2026, Enschede. Open-
# Meteo's own European index is rounded, ours is truncated, so that it stays in its class.
# Hour, pm10, pm2_5, co, no2, so2, o3, nh3; theirs and ours.
OPEN_METEO = [
    ("00:00", (25.1, 20.5, 263, 20.7, 1.3, 33, 17.3), 43, 43),
    ("01:00", (23.4, 20.0, 255, 20.1, 0.9, 28, 14.0), 43, 42),
    ("02:00", (23.9, 18.9, 242, 19.2, 0.9, 27, 16.0), 42, 42),
    ("12:00", (28.2, 22.1, 229, 11.2, 2.5, 42, 11.1), 44, 44),
]


def test_european_indices_of_recorded_hours_agree_with_open_meteos(start, serve, listen, cities):
    """Each recorded hour is a city."""
    names = ("pm10", "pm2_5", "co", "no2", "so2", "o3", "nh3")
    rows = [(hour, dict(zip(names, values)), *rest) for hour, values, *rest in OPEN_METEO]

    def value(latitude, longitude, pollutant, time_):
        return rows[int(latitude)][1][pollutant]

    server = serve(lambda path, query, headers: Response(sources.open_meteo(query, value)))
    places = cities(*(f"{row[0]},{number},7," for number, row in enumerate(rows)))
    feed = start.feed("poll", f"--base-url={server.url}", "--index=eu", places)
    listener = listen(feed.url)
    for hour, values, theirs, expected in rows:
        element = listener.wait_for_city(hour)
        assert element["aqi"] == expected and abs(theirs - expected) <= 1, hour
        assert element["pollutants"] == values


# vimlendu-maker/swechha-website@f5163e1 lib/__fixtures__/caaqms-2026-08-26T1200.xml: city, place,
# station, PM2.5, PM10, NO2, NH3, SO2, CO, OZONE, CPCB's own Value.
STATIONS = [
    line.split(",")
    for line in """\
Amaravati,16.5150833,80.5181667,Secretariat,32,97,NA,NA,NA,NA,28,97
Chittoor,13.20488,79.097889,Gangineni Cheruvu,NA,NA,NA,NA,NA,19,29,
Kakinada,16.962488,82.229513,Rama Rao Peta,34,44,47,6,11,34,17,47
Tirumala,13.67,79.35,Toll Gate,20,28,41,2,2,15,9,41
Vijayawada,16.554731,80.64911,Rajiv Nagar,52,59,15,3,11,23,21,59
Vijayawada,16.536107,80.594233,HB Colony,45,51,17,3,14,31,24,51
Vijayawada,16.509717,80.612222,Rajiv Gandhi Park,59,64,31,5,13,28,21,64
Visakhapatnam,17.72,83.3,GVM Corporation,71,118,63,3,17,19,8,118
""".splitlines()
]
NAMES = ["PM2.5", "PM10", "NO2", "NH3", "SO2", "CO", "OZONE"]
# The means of CPCB's own values, where a station has one.
CPCB_EXPECTED = dict(Amaravati=97, Kakinada=47, Tirumala=41, Vijayawada=58, Visakhapatnam=118)


def cpcb_feed() -> bytes:
    updated = time.strftime("%d-%m-%Y %H:%M:%S", time.gmtime(hour_now() + 19800))
    lines = ["<?xml version='1.0' encoding='UTF-8'?>", "<AqIndex>", '<Country id="India">']
    lines += ['<State id="Goa"/>', '<State id="X">']
    for city, latitude, longitude, station, *values, index in STATIONS:
        place = f'latitude="{latitude}" longitude="{longitude}"'
        lines += [f'<City id="{city}">', f'<Station id="{station}" lastupdate="{updated}" {place}>']
        lines += [
            f'<Pollutant_Index id="{name}" Min="1" Max="9" Avg="{value}" Hourly_sub_index="1"/>'
            for name, value in zip(NAMES, values, strict=True)
        ]
        lines.append(f'<Air_Quality_Index Value="{index}" Predominant_Parameter="PM10"/>')
        lines.append("</Station></City>")
    return "\n".join([*lines, "</State></Country></AqIndex>"]).encode()


def cpcb_rows() -> list[dict]:
    rows = []
    for city, latitude, longitude, station, *values, _ in STATIONS:
        averages = dict(zip(NAMES, values, strict=True))
        rows += sources.cpcb_rows(city, station, averages, latitude, longitude)
    return rows


@pytest.mark.parametrize("has_key", [False, True], ids=["CPCB's own feed", "data.gov.in"])
def test_cpcb_indices_with_and_without_a_key_agree(has_key, start, serve, listen, cities, key_file):
    """Without a key, the index is CPCB's own; with one, it follows from the sub-indices alone."""

    def respond(path, query, headers):
        if has_key:
            return Response(sources.cpcb_page(cpcb_rows(), query))
        assert path == "/caaqms/rss_feed" and not query
        return Response(body=cpcb_feed(), headers={"Content-Type": "application/xml"})

    places = {city: f"{city},{latitude},{longitude}," for city, latitude, longitude, *_ in STATIONS}
    flags = [f"--base-url={serve(respond).url}", cities(*places.values())]
    feed = start.feed("poll", "--source=cpcb", *flags, *([key_file] if has_key else []))
    listener = listen(feed.url)
    for city, expected in CPCB_EXPECTED.items():
        assert listener.wait_for_city(city)["aqi"] == expected, city
    assert listener.elements[0]["subindices"] == {"pm2_5": 32, "pm10": 97, "o3": 28}
    wait_for(lambda: feed.messages, "the reason")
    (message,) = feed.messages
    assert "left out Chittoor: no station has averages of three" in message


MICROGRAMS = "µg/m³"
LABELLED = [("pm25", MICROGRAMS, 45), ("no2", "ppb", 40), ("so2", "ppb", 16), ("co", "ppb", 1.2)]
# CPCB's numbers under the label ppb, against CPCB's archive; and a station whose old sensors are
# silent: openaq/openaq-python@2818152 tests/fixtures/responses/locations_1000.json, location 17.
OPENAQ = {
    "India": ("IN", LABELLED, {"pm2_5": 45, "no2": 40, "so2": 16, "co": 1200}),
    "elsewhere": ("US", LABELLED, {"pm2_5": 45, "no2": 75.26, "so2": 41.92, "co": 1.37}),
    "location 17": (
        "IN",
        [(name, MICROGRAMS, None) for name in ("pm25", "no2", "co")] + LABELLED[:2] + LABELLED[3:],
        {"pm2_5": 45, "no2": 40, "co": 1200},
    ),
}


@pytest.mark.parametrize("country, sensors, expected", OPENAQ.values(), ids=OPENAQ)
def test_openaq_units_are_converted_and_silent_sensors_skipped(
    country, sensors, expected, start, serve, listen, cities, key_file
):
    """A location whose sensors, numbered in order, have the same value every hour."""
    rows = [(number, *sensor[:2]) for number, sensor in enumerate(sensors)]
    location = sources.openaq_location(17, time.time() - 600, rows)
    location["country"] = {"id": 1, "code": country, "name": "X"}

    def respond(path, query, headers):
        if path.startswith("/v3/locations"):
            return Response(sources.openaq_page([location]))
        name, unit, value = sensors[int(path.split("/")[3])]
        assert value is not None, "an old sensor is asked"
        times = [hour_now() - age * HOUR for age in range(25)]
        hours = [sources.openaq_hour(time_, value, name, unit) for time_ in times]
        return Response(sources.openaq_page(hours))

    flags = (f"--base-url={serve(respond).url}", cities("Delhi,28.6,77.2,"), key_file)
    feed = start.feed("poll", "--source=openaq", *flags, "--rate=100/1s")
    assert listen(feed.url).wait_for_city("Delhi")["pollutants"] == expected
