"""What people are told: by a real Prometheus and Alertmanager, of real exporters and feeds."""

import functools
import json
import shutil
from collections import Counter

import pytest
from websockets.sync.client import connect

from grafana.demo import air
from grafana.rules import named
from grafana.stories import STORIES
from grafana.telling import RECEIVERS, tell

needs_alertmanager = pytest.mark.skipif(
    not shutil.which("prometheus-alertmanager"),
    reason="no prometheus-alertmanager: install Debian's package",
)


@pytest.fixture(scope="module")
def told(programs, tmp_path_factory):
    """The stories of a speed, told once."""

    @functools.cache
    def tell_all(speed: int):
        stories = [story for story in STORIES if story.speed == speed]
        return tell(stories, speed, programs, tmp_path_factory.mktemp("told"))

    return tell_all


@pytest.mark.long
@needs_alertmanager
@pytest.mark.parametrize(
    "story",
    [
        pytest.param(story, id=story.name, marks=pytest.mark.xdist_group(f"told {story.speed}"))
        for story in STORIES
        if story.speed
    ],
)
def test_each_notification_is_true_none_is_missing_and_none_comes_twice(story, told):
    expected: dict[str, int] = {}
    still_firing = story.firing[max(story.firing)].split() if story.firing else []
    for alert, count in story.alerts.items():
        name, severity = named(alert)
        news = f"{RECEIVERS[severity]} of {story.exporters[0].job}: {name}"
        expected[f"{news} firing"] = count
        expected[f"{news} resolved"] = count - (alert in still_firing)
    # In number as well.
    assert told(story.speed)[story.name] == Counter(expected)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_demo_of_the_stories_is_the_simulated_feed(start, seed):
    feed = start.feed("simulate", "--coverage", "1", "--seed", str(seed))
    with connect(feed.url) as client:
        message = json.loads(client.recv())
    assert {each["city"]: each["aqi"] for each in message} == air(seed, 0)
