"""Pollutants without their flag, and after a restart. ConcentrationsTests has the rest."""

from support import metrics


def concentrations(exporter) -> dict[tuple[str, str], float]:
    return {
        (labels["city"], labels["pollutant"]): value
        for labels, value in exporter.scrape().samples(metrics.CONCENTRATION)
    }


def test_without_the_flag_nothing_is_read(start, python_feed):
    exporter = start.exporter("--feed.url", python_feed.url)
    python_feed.wait_for_client()
    python_feed.send([{"city": "Delhi", "aqi": 1, "pollutants": {"pm2_5": 58.1, "pm1": 3}}])
    exporter.wait_for_sample(metrics.INDEX, 1, city="Delhi")
    assert metrics.CONCENTRATION not in exporter.scrape().text
    assert not exporter.count_lines("Unknown pollutant skipped")


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
