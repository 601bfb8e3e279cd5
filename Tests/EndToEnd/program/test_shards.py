"""Several exporters that divide the cities. OversizedFileTests has what they keep in storage."""

import urllib.parse

from support import metrics
from support.shards import shard

CITIES = [f"City {number}" for number in range(60)]
SHARDS = 4
SKIPPED = "airquality_exporter_feed_readings_skipped_total"
OF_SHARD = [{name for name in CITIES if shard(name, SHARDS) == index} for index in range(SHARDS)]


def send(feed, cities, aqi=7) -> None:
    feed.send([{"city": name, "aqi": aqi} for name in cities])


def exported(exporter) -> set[str]:
    return set(exporter.scrape().by(metrics.INDEX, "city"))


def test_shards_divide_the_cities_and_name_the_shard_of_each_history(start, python_feed):
    exporters = [
        start.exporter("--feed.url", python_feed.url, "--city.shard", f"{prefix}{index}/{SHARDS}")
        for index, prefix in enumerate(["", "exporter-", "air-quality-exporter-a-", ""])
    ]
    python_feed.wait_for_client(SHARDS)
    send(python_feed, CITIES)
    # An element without a valid city is rejected by every shard.
    python_feed.send([{"city": "", "aqi": 1}])
    for index, (exporter, own) in enumerate(zip(exporters, OF_SHARD, strict=True)):
        exporter.wait_for_sample(metrics.REJECTED, 1, reason="bad_city")
        page = exporter.scrape()
        assert set(page.by(metrics.INDEX, "city")) == own
        assert page.value("airquality_exporter_shard_index") == index
        assert page.value("airquality_exporter_shards") == SHARDS
        assert page.value(metrics.READINGS) == len(own)
        assert page.value(SKIPPED) == len(CITIES) - len(own)
    # Each exporter names the shard that has the history of a city.
    for city in (CITIES[0], "Nāgpur"):
        for exporter in exporters:
            response = exporter.get(f"/history.json?city={urllib.parse.quote(city)}")
            assert response.status == 200
            assert response.headers["Air-Quality-Shard"] == f"{shard(city, SHARDS)}/{SHARDS}"
            assert bool(response.json["points"]) == (city in exported(exporter))


def test_a_shard_keeps_only_its_own_cities_of_the_demo_feed(start):
    exporter = start.exporter("--feed.demo", "--city.shard", f"1/{SHARDS}")
    exporter.wait_for_sample(SKIPPED, at_least=1, feed="demo")
    assert {shard(city, SHARDS) for city in exported(exporter)} <= {1}
