"""Every index against an independent implementation of the published tables."""

import random

import pytest

from live import indices, sources
from live.sources import HOUR, Response, hour_now
from support.waiting import wait_for

# The highest values used here, µg/m³: beyond the last breakpoint of at least one table.
MOST = {"pm2_5": 420, "pm10": 700, "no2": 900, "so2": 1500, "o3": 700, "co": 40_000, "nh3": 2000}
COUNT = 400


def made_up(number: int) -> dict[str, list[float | None]]:
    """A city's day, newest hour first: one value is high, some hours and pollutants are missing."""
    chance = random.Random(number)
    high = chance.choice(list(MOST))
    air = {}
    for name, most in MOST.items():
        if name != high and chance.random() < 0.25:
            continue
        level = chance.uniform(0, most * (1 if name == high else 0.1))
        change = chance.choice([0, 0, 0.2, 0.9])
        gaps = chance.choice([0, 0, 0.1, 0.3])
        air[name] = [
            None
            if chance.random() < gaps
            else round(min(most, level * (1 + change * chance.uniform(-1, 1))), 1)
            for _ in range(24)
        ]
    # The newest hour has at least one value.
    air[high][0] = air[high][0] if air[high][0] is not None else 1.0
    return air


@pytest.mark.parametrize("index", indices.RULES)
def test_indices_agree_with_an_independent_implementation(index, start, serve, listen, cities):
    days = {number / 1000: made_up(number) for number in range(COUNT)}
    hour = hour_now()

    def value(latitude, longitude, pollutant, time_):
        age = (hour - time_) // HOUR
        return days[latitude].get(pollutant, [None] * 24)[age] if 0 <= age < 24 else None

    server = serve(lambda path, query, headers: Response(sources.open_meteo(query, value)))
    rows = [f"{latitude},{latitude},7," for latitude in days]
    flags = (f"--base-url={server.url}", f"--index={index}", "--rate=100000/1s", cities(*rows))
    feed = start.feed("poll", *flags)
    listener = listen(feed.url)
    rule, whole = indices.RULES[index]
    expected = {str(latitude): rule(air) for latitude, air in days.items()}
    wanted = {city: value for city, value in expected.items() if value is not None}
    assert COUNT / 2 < len(wanted) < COUNT
    wait_for(lambda: {e["city"] for e in listener.elements} >= wanted.keys(), "all cities", 120)
    found = {element["city"]: element["aqi"] for element in listener.elements}
    assert found.keys() == wanted.keys()
    compared = 0
    for city, value in wanted.items():
        # Close to a half, either rounding is right.
        if abs(value % 1 - 0.5) > 1e-6 or index == "eu":
            assert found[city] == whole(value), (city, days[float(city)])
            compared += 1
    assert compared > len(wanted) * 0.9
