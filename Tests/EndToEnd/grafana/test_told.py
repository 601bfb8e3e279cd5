"""Notifications by a real Prometheus and Alertmanager, about real exporters and feeds."""

import functools
import shutil
from collections import Counter

import pytest

from grafana.rules import named
from grafana.stories import STORIES
from grafana.telling import RECEIVERS, play

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not shutil.which("prometheus-alertmanager"),
        reason="no prometheus-alertmanager: install Debian's package",
    ),
]


@pytest.fixture(scope="module")
def told(programs, tmp_path_factory):
    """The notifications of all stories of a speed, which are played once."""

    @functools.cache
    def play_all(speed: int):
        stories = [story for story in STORIES if story.speed == speed]
        return play(stories, speed, programs, tmp_path_factory.mktemp("told"))

    return play_all


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(story, id=story.name, marks=pytest.mark.xdist_group(f"told {story.speed}"))
        for story in STORIES
        if story.speed
    ],
)
def test_exactly_the_expected_notifications_are_sent(story, told):
    # Their number is exact as well.
    expected: Counter[str] = Counter()
    still_firing = story.firing[max(story.firing)].split() if story.firing else []
    for alert, count in story.alerts.items():
        name, severity = named(alert)
        news = f"{RECEIVERS[severity]} of {story.exporters[0].job}: {name}"
        expected[f"{news} firing"] = count
        expected[f"{news} resolved"] = count - (alert in still_firing)
    assert told(story.speed)[story.name] == expected
