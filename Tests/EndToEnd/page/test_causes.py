"""The cause of bad air in the list, and the source of the readings, in a real browser. The
pollutants of a city are in PageTests."""

import time

from support.peers import WebSocketFeed

def test_the_list_names_the_pollutant_that_causes_bad_air(air, reader):
    reader.open(air.address)
    rows = {row.get_attribute("data-city"): row.text for row in reader.all("li.city")}
    assert "because of PM2.5" in rows["Delhi"] and "because of PM2.5" in rows["Lucknow"]
    # Good air has no cause.
    assert "because" not in rows["Indore"]


# PageTests covers the credit of each source.
def test_every_page_credits_the_source_of_the_readings(start, browser):
    words = (
        "Source: Open-Meteo, using Copernicus Atmosphere Monitoring Service information, "
        "a computer model, licence CC BY 4.0."
    )

    with WebSocketFeed(source='open-meteo; kind=model; license="CC BY 4.0"') as feed:
        exporter = start.reader(feed, "--feed.time-field", "time")
        feed.send([{"city": "Delhi", "aqi": 200, "time": time.time()}])
        exporter.wait_for_sample("airquality_exporter_cities", 1)
        for path in ("/", "/city/Delhi", "/about", "/?kiosk"):
            browser.open(f"http://{exporter.address}{path}")
            footer = browser.find("footer").text
            assert browser.find("footer").is_displayed()
            assert words in footer
            assert "AQI India: Central Pollution Control Board, 2014." in footer
        browser.open("about:blank")
