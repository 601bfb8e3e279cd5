"""The largest history: complete and sorted up to the limit, and an error beyond it. The tests are
steps of one story."""

import gzip

import pytest

from support import metrics
from support.peers import WebSocketFeed

# All tests run in one process.
pytestmark = pytest.mark.xdist_group("large history")

CITIES = 7000


@pytest.fixture(scope="module")
def exporter(programs, large_feed):
    flags = ("--history.interval=0", "--history.capacity=30", "--metrics.families=index")
    with programs.exporter("--feed.url", large_feed.url, *flags) as exporter:
        large_feed.wait_for_client()
        yield exporter


@pytest.fixture(scope="module")
def large_feed():
    with WebSocketFeed(compression=None) as feed:
        yield feed


def fill(exporter, feed, first: int, last: int) -> None:
    """Gives each city points up to the number `last`."""
    for index in range(first, last):
        feed.send_cities(index, CITIES)
        exporter.wait_for_figure(metrics.READINGS, (index + 1) * CITIES)


def test_a_history_below_the_limit_is_complete_sorted_and_cacheable(exporter, large_feed):
    fill(exporter, large_feed, 0, 25)
    plain = exporter.get("/history.json", seconds=120)
    assert plain.status == 200
    points = plain.json["points"]
    assert len(points) == 25 * CITIES
    keys = [(point["time_ms"], point["city"].encode()) for point in points]
    assert keys == sorted(set(keys))
    gzip_accepted = {"Accept-Encoding": "gzip"}
    compressed = exporter.get("/history.json", headers=gzip_accepted, seconds=120)
    assert gzip.decompress(compressed.body) == plain.body
    assert len(compressed.body) < len(plain.body) / 4
    tag = plain.headers["Etag"]
    again = exporter.get("/history.json", headers={"If-None-Match": tag}, seconds=120)
    assert (again.status, again.body) == (304, b"")


def test_a_history_of_more_than_200000_points_is_rejected_with_a_hint_to_select_cities(
    exporter, large_feed
):
    fill(exporter, large_feed, 25, 29)
    response = exporter.get("/history.json")
    assert response.status == 413
    assert f"{29 * CITIES} points, expected at most 200000" in response.json["error"]
    assert "?city=" in response.json["error"]
    assert exporter.get("/history.json?city=City+7").status == 200
