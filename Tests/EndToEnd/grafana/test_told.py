"""What people are told: by a real Prometheus and Alertmanager, of real exporters and feeds."""

import functools
import shutil
from collections import Counter

import pytest

from grafana.rules import named
from grafana.stories import STORIES
from grafana.telling import RECEIVERS, tell

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not shutil.which("prometheus-alertmanager"),
        reason="no prometheus-alertmanager: install Debian's package",
    ),
]


@pytest.fixture(scope="module")
def told(programs, tmp_path_factory):
    """The stories of a speed, told once."""

    @functools.cache
    def tell_all(speed: int):
        stories = [story for story in STORIES if story.speed == speed]
        return tell(stories, speed, programs, tmp_path_factory.mktemp("told"))

    return tell_all


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(story, id=story.name, marks=pytest.mark.xdist_group(f"told {story.speed}"))
        for story in STORIES
        if story.speed
    ],
)
def test_each_notification_is_true_none_is_missing_and_none_comes_twice(story, told):
    # In number as well.
    expected: Counter[str] = Counter()
    still_firing = story.firing[max(story.firing)].split() if story.firing else []
    for alert, count in story.alerts.items():
        name, severity = named(alert)
        news = f"{RECEIVERS[severity]} of {story.exporters[0].job}: {name}"
        expected[f"{news} firing"] = count
        expected[f"{news} resolved"] = count - (alert in still_firing)
    assert told(story.speed)[story.name] == expected
