"""The cause of bad air, its meaning and the source of the readings, in a real browser."""

import time

from page.conftest import EXTRAS, element
from support.peers import WebSocketFeed

POLLUTANTS = ".tiles div"


def texts(browser, selector: str) -> list[str]:
    return [found.text for found in browser.all(selector)]


def test_the_list_names_the_pollutant_that_causes_bad_air(air, reader):
    reader.open(air.address)
    rows = {row.get_attribute("data-city"): row.text for row in reader.all("li.city")}
    assert "because of PM2.5" in rows["Delhi"] and "because of PM2.5" in rows["Lucknow"]
    # Good air has no cause.
    assert "because" not in rows["Indore"]


def test_the_page_of_a_city_shows_each_pollutant(air, reader):
    reader.open(air.address + "/city/Delhi")
    assert "because of PM2.5" in reader.find(".current").text
    assert reader.find(".health").text.endswith("Everyone: avoid heavy exertion outdoors.")
    assert "By pollutant (AQI India)" in texts(reader, "h2")
    assert [tile.split("\n") for tile in texts(reader, POLLUTANTS)] == [
        ["PM2.5", "318", "159 µg/m³"],
        ["PM10", "255"],
        ["NO₂", "8.2 µg/m³"],
        ["CO", "45", "1235 µg/m³"],
    ]
    classes = [index.get_attribute("class") for index in reader.all(".tiles .index")]
    assert classes == ["index c5", "index c4", "index c1"]
    # Every value comes with the name of the index.
    assert "AQI India" in reader.find(".current .value").text
    assert reader.text(".levels .unit") == "AQI India"


def test_the_list_names_the_scale_beside_every_index(air, reader):
    """So does the text for screen readers."""
    for path in ("/", "/?kiosk"):
        reader.open(air.address + path)
        rows = [" ".join(row.get_attribute("textContent").split()) for row in reader.all("li.city")]
        assert len(rows) == 6 and all("AQI India" in row for row in rows), rows
        assert "AQI India318" in rows[0]
        assert reader.find(".scale").is_displayed() and reader.find(".scale").text == "AQI India"


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


def test_missing_or_invalid_pollutants_are_left_out(start_air, reader):
    air = start_air(*EXTRAS)
    now = time.time()
    without = {"city": "Pune", "aqi": 250, "time": now}
    bad = {"pm2_5": "bad", "soot": 7}
    hostile = {"city": "Surat", "aqi": 250, "time": now, "subindices": bad, "pollutants": []}
    dust = {"city": "Agra", "aqi": 250, "time": now, "pollutants": {"pm2_5": 0}}
    air.feed.send([without, hostile, dust, element("Delhi", 10**3, now)])
    air.wait_for_cities(4)
    reader.open(air.address)
    assert [("because" in row.text) for row in reader.all("li.city")] == [True, False, False, False]
    for city in ("Pune", "Surat"):
        reader.open(f"{air.address}/city/{city}")
        assert not reader.all(".tiles, .cause, h2")
    reader.open(air.address + "/city/Agra")
    assert texts(reader, POLLUTANTS) == ["PM2.5\n0.0 µg/m³"]
    assert "By pollutant" in texts(reader, "h2")
