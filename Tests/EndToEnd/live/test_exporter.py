"""What the exporter makes of pollutants and of a feed that names its source."""

import json

import pytest

from support import metrics
from support.peers import WebSocketFeed
from support.waiting import wait_for


def concentrations(exporter) -> dict[tuple[str, str], float]:
    return {
        (labels["city"], labels["pollutant"]): value
        for labels, value in exporter.scrape().samples(metrics.CONCENTRATION)
    }


def warnings(exporter) -> list[str]:
    return [line for line in exporter.errors if "Unknown pollutant skipped" in line]


def test_pollutants_are_taken_by_the_closed_set_and_bad_ones_left_out(start, python_feed):
    exporter = start.exporter("--feed.url", python_feed.url, "--feed.pollutants-field=air")
    python_feed.wait_for_client()
    air = {
        "pm2_5": 58.1,
        "pm10": "120",
        "no2": -1,
        "so2": 1e9,
        "o3": None,
        "co": True,
        "nh3": 0,
        "pm1": 3,
        "dust": 4,
    }
    python_feed.send(
        [
            {"city": "Delhi", "aqi": 1, "air": air},
            {"city": "Pune", "aqi": 2, "air": [58.1]},
            {"city": "Agra", "aqi": 3, "air": "58.1"},
            {"city": "Surat", "aqi": 4},
            {"city": "Goa", "aqi": 5, "air": {"pm10": 7}},
        ]
    )
    exporter.wait_for_sample(metrics.INDEX, 5, city="Goa")
    assert concentrations(exporter) == {
        ("Delhi", "pm2_5"): 58.1,
        ("Delhi", "pm10"): 120,
        ("Delhi", "nh3"): 0,
        ("Goa", "pm10"): 7,
    }
    page = exporter.scrape()
    # The readings stand, whatever stands beside them.
    assert page.by(metrics.INDEX, "city") == {
        "Delhi": 1,
        "Pune": 2,
        "Agra": 3,
        "Surat": 4,
        "Goa": 5,
    }
    assert page.nonzero(metrics.REJECTED, "reason") == {}
    python_feed.send(
        [
            {"city": "Delhi", "aqi": 1, "air": {"pm1": 5, "o3": 6}},
            {"city": "Goa", "aqi": 5, "air": 7},
            {"city": "Surat", "aqi": 9, "air": None},
            {"city": "Agra", "aqi": 9, "air": {"o3": 8, "dust": 1}},
        ]
    )
    exporter.wait_for_sample(metrics.INDEX, 9, city="Agra")
    assert concentrations(exporter) == {("Delhi", "o3"): 6, ("Agra", "o3"): 8}
    assert [line.split("pollutant=")[1].split()[0] for line in warnings(exporter)] == [
        "pm1",
        "dust",
    ]


def test_without_the_flag_nothing_is_read(start, python_feed):
    exporter = start.exporter("--feed.url", python_feed.url)
    python_feed.wait_for_client()
    python_feed.send([{"city": "Delhi", "aqi": 1, "pollutants": {"pm2_5": 58.1, "pm1": 3}}])
    exporter.wait_for_sample(metrics.INDEX, 1, city="Delhi")
    assert metrics.CONCENTRATION not in exporter.scrape().text
    assert warnings(exporter) == []


def test_concentrations_are_not_in_the_history_and_go_with_their_city(start, python_feed):
    flags = ("--feed.pollutants-field=air", "--history.interval=0")
    with_air = start.exporter("--feed.url", python_feed.url, *flags, "--city.expire-after=2s")
    without = start.exporter("--feed.url", python_feed.url, "--history.interval=0")
    python_feed.wait_for_client(2)
    python_feed.send(
        [
            {"city": "Delhi", "aqi": 1, "air": {"pm2_5": 58.1}},
            {"city": "Pune", "aqi": 2, "air": {"o3": 3}},
        ]
    )
    for exporter in (with_air, without):
        exporter.wait_for_sample(metrics.INDEX, 1, city="Delhi")
    histories = [
        [
            {member: value for member, value in point.items() if not member.startswith("time")}
            for point in points["points"]
        ]
        for points in (with_air.history(), without.history())
    ]
    assert histories[0] == histories[1] and histories[0]
    assert set(concentrations(with_air)) == {("Delhi", "pm2_5"), ("Pune", "o3")}

    def only_delhi():
        python_feed.send([{"city": "Delhi", "aqi": 1}])
        return set(concentrations(with_air)) == {("Delhi", "pm2_5")}

    wait_for(only_delhi, "the end of Pune", pause=0.2)


def test_after_a_restart_the_readings_are_there_and_the_concentrations_come_with_the_next_ones(
    start, python_feed, tmp_path
):
    """Concentrations are no part of what the storage promises: a bridge says all that it knows to
    each new client.
    """
    flags = (
        "--feed.url",
        python_feed.url,
        "--feed.pollutants-field=air",
        "--storage.file",
        str(tmp_path / "cities.sqlite"),
    )
    exporter = start.exporter(*flags)
    python_feed.wait_for_client()
    python_feed.send([{"city": "Delhi", "aqi": 7, "air": {"pm2_5": 58.1}}])
    exporter.wait_for_sample(metrics.CONCENTRATION, 58.1, city="Delhi")
    assert exporter.stop() is None
    again = start.exporter(*flags)
    assert again.wait_for_sample(metrics.INDEX, 7, city="Delhi") == 7
    assert concentrations(again) == {}
    python_feed.wait_for_client()
    python_feed.send([{"city": "Delhi", "aqi": 7, "air": {"pm2_5": 9}}])
    again.wait_for_sample(metrics.CONCENTRATION, 9, city="Delhi")


@pytest.mark.parametrize(
    "header, labels",
    [
        ('open-meteo; kind=model; license="CC BY 4.0"', ("open-meteo", "model", "CC BY 4.0")),
        ("cpcb; kind=satellite; license=", ("cpcb", "", "")),
        ('"a\\"b\\\\"; kind=stations; license="{x=\\"1\\"} 2"', ('a"b\\', "stations", '{x="1"} 2')),
        ("x; license=" + "y" * 129, ("x", "", "")),
        ("x" * 129, None),
        ("x" * 5000, None),
        ("; kind=model", None),
        (None, None),
    ],
)
def test_the_source_is_what_the_handshake_s_answer_says(start, header, labels):
    def process_response(connection, request, response):
        if header is not None:
            response.headers["Air-Quality-Source"] = header

    feed = WebSocketFeed(process_response=process_response)
    try:
        exporter = start.exporter("--feed.url", feed.url)
        exporter.wait_for_sample(metrics.CONNECTED, 1)
        found = [
            (each["source"], each["kind"], each["license"])
            for each, _ in exporter.scrape().samples(metrics.SOURCE)
        ]
        assert found == ([labels] if labels else [])
    finally:
        feed.stop()


def test_the_source_is_that_of_the_last_connection(start):
    """It stays while the feed is away, as its readings do, and goes when the feed comes back
    without it.
    """
    answers = ["open-meteo; kind=model", None, "openaq; kind=stations"]
    requests: list[str | None] = []

    def process_response(connection, request, response):
        requests.append(answers[len(requests) % len(answers)])
        if requests[-1]:
            response.headers["Air-Quality-Source"] = requests[-1]

    feed = WebSocketFeed(process_response=process_response)
    try:
        exporter = start.exporter(
            "--feed.url",
            feed.url,
            "--feed.reconnect-min=10ms",
            "--feed.reconnect-max=10ms",
            "--web.enable-lifecycle",
        )
        for name in ("open-meteo", None, "openaq"):
            count = len(requests)
            wait_for(
                lambda wanted=name: (
                    [each["source"] for each, _ in exporter.scrape().samples(metrics.SOURCE)]
                    == ([wanted] if wanted else [])
                ),
                f"the source {name}",
            )
            assert exporter.scrape().value(metrics.CONNECTED) == 1
            feed.close_clients()
            wait_for(lambda count=count: len(requests) > count, "the next connection")
    finally:
        feed.stop()


def test_elements_of_the_bridge_and_their_pollutants_in_one_message(start, python_feed):
    """As the bridge writes it: members in its order, and a thousand elements at once."""
    exporter = start.exporter(
        "--feed.url",
        python_feed.url,
        "--feed.time-field=time",
        "--feed.pollutants-field=pollutants",
    )
    python_feed.wait_for_client()
    elements = [
        {
            "city": f"City {number}",
            "aqi": number,
            "time": 1784660400,
            "pollutants": {"pm10": number, "co": 2},
            "basis": "24h",
        }
        for number in range(1000)
    ]
    python_feed.send(json.dumps(elements))
    exporter.wait_for_sample(
        "airquality_concentration_ugm3", 999, city="City 999", pollutant="pm10"
    )
    found = concentrations(exporter)
    assert len(found) == 2000
    assert all(found[f"City {number}", "pm10"] == number for number in range(1000))


def test_sub_indices_and_places(start, python_feed):
    exporter = start.exporter(
        "--feed.url",
        python_feed.url,
        "--feed.subindices-field=subindices",
        "--feed.place-field=place",
    )
    python_feed.wait_for_client()
    python_feed.send(
        [
            {
                "city": "Delhi",
                "aqi": 7,
                "subindices": {"pm2_5": 7, "o3": 3},
                "pollutants": {"pm2_5": 2},
                "place": {"latitude": 28.65, "longitude": 77.23, "country": "IN"},
            },
            {"city": "Pune", "aqi": 8},
        ]
    )
    exporter.wait_for_sample(metrics.INDEX, 8, city="Pune")
    page = exporter.scrape()
    assert page.by("airquality_subindex", "pollutant") == {"pm2_5": 7, "o3": 3}
    assert (
        page.value(
            "airquality_city_info", city="Delhi", country="IN", latitude="28.65", longitude="77.23"
        )
        == 1
    )
    assert len(page.samples("airquality_city_info")) == 1 and not page.samples(
        metrics.CONCENTRATION
    )
