"""docker/scale in short: fewer cities, faster scrapes, the faults that matter most. `make scale` is the long form."""

import pytest

from scale import deployment, feed
from scale.campaign import Campaign, table
from scale.deployment import Deployment
from scale.judge import Window, changes_sent, grown, longest_gap

CITIES = 400


@pytest.mark.long
def test_no_sample_is_lost_when_a_process_is_killed(programs, tmp_path):
    if missing := deployment.missing():
        pytest.skip(f"not installed: {', '.join(missing)}")
    scaled = Deployment(
        programs.folder, tmp_path, cities=CITIES, feed_interval=0.5, scrape_interval=3, warm_up=1)
    verdict = Campaign(scaled, ["a replica of two shards"], dead_for=8, rest=6, says=print).run()
    print(table(verdict, CITIES))
    assert not verdict.broken(CITIES)


# MARK: The judge itself


def test_values_say_when_they_were_sent():
    for city, step in ((0, 0), (399, 7), (19_999, 99_999)):
        value = feed.value(city, step)
        assert feed.step_of(value) == step
        assert int(value) == feed.level(city, step)
    assert all(feed.is_present(city, 0) for city in range(100))
    assert 0.5 < sum(feed.is_present(city, 5) for city in range(1000)) / 1000 < 0.7
    assert [feed.category(index) for index in (0, 50, 51, 100, 101, 201, 301, 401, 499)] == [1, 1, 2, 2, 3, 4, 5, 6, 6]


def test_gaps_are_found_and_those_of_the_control_left_out():
    times = [0.0, 10, 20, 45, 55, 60]
    assert longest_gap(times, 0, 60, None) == (25, 20)
    assert longest_gap(times, 0, 60, Window("", 25, 40)) == (10, 0)
    assert longest_gap([], 5, 60, None) == (55, 5)
    assert longest_gap(times, 0, 90, None) == (30, 60)


def test_changes_are_counted_from_the_value_before():
    sent = [float(step) for step in range(60)]
    every = [changes_sent(city, sent, 0, 50) for city in range(200)]
    assert sum(every) > 100
    for city, whole in enumerate(every):
        assert whole == changes_sent(city, sent, 0, 20.5) + changes_sent(city, sent, 20.5, 50)
        category = [feed.category(feed.level(city, step)) for step in range(51) if feed.is_present(city, step)]
        assert whole == sum(one != two for one, two in zip(category, category[1:]))


def test_a_counter_that_falls_began_again():
    assert grown([(0.0, 5.0), (10, 7), (20, 0), (30, 2), (40, 1)]) == 2 + 0 + 2 + 1
    assert grown([(10.0, 7.0), (20, 0), (30, 2)]) == 2
    assert grown([]) == 0
