"""Pollutants with an empty flag, and after a restart. ConcentrationsTests has the rest."""

from support import metrics


def test_pollutants_are_ignored_with_an_empty_flag(start, python_feed):
    exporter = start.reader(python_feed, "--feed.pollutants-field=")
    python_feed.send([{"city": "Delhi", "aqi": 1, "pollutants": {"pm2_5": 58.1, "pm1": 3}}])
    exporter.wait_for_sample(metrics.INDEX, 1, city="Delhi")
    assert metrics.CONCENTRATION not in exporter.scrape().text
    assert not exporter.count_lines("Unknown pollutants skipped")


def test_a_restart_restores_readings_while_concentrations_wait_for_the_next_message(
    start, python_feed, tmp_path
):
    """The storage keeps no concentrations: `poll` sends all that it knows to each new client."""
    flags = ("--feed.pollutants-field=air", f"--storage.file={tmp_path / 'cities.sqlite'}")
    exporter = start.reader(python_feed, *flags)
    python_feed.send([{"city": "Delhi", "aqi": 7, "air": {"pm2_5": 58.1}}])
    exporter.wait_for_sample(metrics.CONCENTRATION, 58.1, city="Delhi")
    assert exporter.stop() is None
    again = start.exporter("--feed.url", python_feed.url, *flags)
    again.wait_for_sample(metrics.INDEX, 7, city="Delhi")
    assert again.scrape().samples(metrics.CONCENTRATION) == []
    python_feed.wait_for_client()
    python_feed.send([{"city": "Delhi", "aqi": 7, "air": {"pm2_5": 9}}])
    again.wait_for_sample(metrics.CONCENTRATION, 9, city="Delhi")
