"""The cities on a map, in a real browser."""

import gzip
import time

from selenium.webdriver.common.action_chains import ActionChains

from page.conftest import EXTRAS, INDIA, PLACES, element
from support.waiting import wait_for

DOTS = "return [...document.querySelectorAll('.dots a')].map(e => e.querySelector('title').textContent)"
# The middle of each dot on the screen, by the city's name.
MIDDLES = """
return Object.fromEntries([...document.querySelectorAll(".dots a")].map(e => {
  const box = e.querySelector("circle").getBoundingClientRect();
  return [decodeURIComponent(e.getAttribute("href").split("/")[1]), [box.left + box.width / 2, box.top + box.height / 2]];
}));
"""


def names(browser) -> set[str]:
    return set(browser.run(MIDDLES))


def test_shows_where_the_cities_are(air, browser):
    browser.open(air.address)
    browser.find("[aria-label=View] a:nth-child(2)").click()
    browser.wait_for(".map circle")
    assert browser.driver.current_url == air.address + "/?map"
    middles = browser.run(MIDDLES)
    assert middles.keys() == PLACES.keys()
    north_to_south = sorted(PLACES, key=lambda name: -PLACES[name][0])
    assert sorted(middles, key=lambda name: middles[name][1]) == north_to_south
    west_to_east = sorted(PLACES, key=lambda name: PLACES[name][1])
    assert sorted(middles, key=lambda name: middles[name][0]) == west_to_east
    # The countries are drawn, and larger than the map: it shows India, not the world.
    size = "const box = document.querySelector(arguments[0]).getBoundingClientRect(); return [box.width, box.height]"
    wait_for(lambda: browser.run(size, ".map use")[0] > 3 * browser.run(size, ".map")[0], "the countries")
    # All of it is from the exporter.
    loaded = browser.run("return performance.getEntriesByType('resource').map(e => e.name)")
    assert any("/assets/map." in name for name in loaded) and all(name.startswith(air.address) for name in loaded)
    # The colour is not all that a dot says.
    assert "\u2068Delhi\u2069 318 AQI India, Very Poor" in browser.run(DOTS)
    assert "Delhi\u2069 318" in browser.text(".map text")
    # The list below is for the keyboard and for those who have it read aloud.
    assert browser.names() == list(INDIA)
    tree = browser.command("Accessibility.getFullAXTree")["nodes"]
    links = [node.get("name", {}).get("value") for node in tree if node.get("role", {}).get("value") == "link"]
    assert links.count("Delhi") == 1
    # A dot leads to its city.
    delhi = browser.find(".dots a[href='city/Delhi'] circle")
    ActionChains(browser.driver).move_to_element(delhi).click().perform()
    browser.wait_for("h1", "Delhi")


def test_shows_it_without_script(air, browser):
    browser.allow_script(False)
    browser.open(air.address)
    browser.find("[aria-label=View] a:nth-child(2)").click()
    wait_for(lambda: len(browser.all(".dots a")) == len(PLACES), "the map")
    browser.find("#search").send_keys("del")
    browser.find("form button").click()
    wait_for(lambda: browser.driver.current_url == air.address + "/?search=del&map=", "the map of what is found")
    assert len(browser.all(".dots a")) == 1
    ActionChains(browser.driver).move_to_element(browser.find(".dots circle")).click().perform()
    wait_for(lambda: browser.driver.current_url == air.address + "/city/Delhi", "the city")


def test_follows_the_feed_and_the_filter(air, browser):
    browser.open(air.address + "/?map")
    browser.wait_for("body[data-live]")
    frame = browser.find(".map").get_attribute("viewBox")
    air.say(Delhi=30)
    browser.wait_for(".dots a.c1[href='city/Delhi']")
    # Only what is left is on the map, which stays where it is.
    browser.find(".summary [data-category='3']").click()
    wait_for(lambda: names(browser) == {"Mumbai", "Chennai"}, "the moderate ones")
    assert browser.find(".map").get_attribute("viewBox") == frame
    browser.find("[aria-label=View] a:first-child").click()
    wait_for(lambda: not browser.all(".map"), "the list alone")
    assert browser.names() == ["Mumbai", "Chennai"]


def test_has_no_map_where_no_place_is_known(breathe, browser):
    air = breathe(*EXTRAS)
    browser.open(air.address + "/?map")
    assert not browser.all(".map, [aria-label=View]")
    now = time.time()
    hostile = [
        {"latitude": 91, "longitude": 0}, {"latitude": "NaN", "longitude": 1}, {"latitude": 1}, {"country": "IN"},
        {"latitude": 1, "longitude": -180.5}, "here", [1, 2], None,
    ]  # fmt: skip
    cities = [{"city": f"City {place}", "aqi": 50, "time": now, "place": at} for place, at in enumerate(hostile)]
    air.feed.send(cities)
    air.wait_for_cities(len(hostile))
    browser.open(air.address + "/?map")
    assert not browser.all(".map, [aria-label=View]") and len(browser.names()) == len(hostile)
    assert "Natural Earth" not in air.exporter.get("/about").text
    # One of them is enough.
    air.feed.send([{"city": "Suva", "aqi": 50, "time": now, "place": {"latitude": -18.14, "longitude": 178.44}}])
    air.wait_for_cities(len(hostile) + 1)
    browser.open(air.address + "/?map")
    assert names(browser) == {"Suva"}
    box = browser.run(
        "const b = document.querySelector('.map').getBoundingClientRect(); return [b.left, b.right, b.top, b.bottom]"
    )
    [(x, y)] = browser.run(MIDDLES).values()
    assert abs(x - (box[0] + box[1]) / 2) < 2 and abs(y - (box[2] + box[3]) / 2) < 2
    assert "Natural Earth" in air.exporter.get("/about").text


def test_names_on_the_map_are_nothing_but_text(breathe, browser):
    air = breathe(*EXTRAS)
    evil = ["</svg><img src=x onerror=alert(1)>", "القاهرة", "עיר ‮left", "x" * 128, "..", "a/b?c#d", "]]>&lt;"]
    now = time.time()
    air.feed.send([element(name, 400 - 40 * n, (n * 20.0 - 60, n * 40.0 - 120), now) for n, name in enumerate(evil)])
    air.wait_for_cities(len(evil))
    for width in (320, 1280):
        browser.show(width=width)
        browser.open(air.address + "/?map")
        assert [caption.split("\u2069")[0] for caption in browser.run(DOTS)] == [f"\u2068{name}" for name in evil[::-1]]
        assert not browser.all("img") and not browser.is_wider_than_the_screen()


def test_of_very_many_cities_has_the_worst_and_stays_small(breathe, browser):
    air = breathe(*EXTRAS, "--history.capacity", "2")
    now = time.time()
    for part in range(10):
        air.feed.send(
            [
                element(f"City {n:05}", n / 25, (n % 100 - 50.0, n // 100 * 3.6 - 180), now)
                for n in range(part * 1000, part * 1000 + 1000)
            ]
        )
    air.wait_for_cities(10_000)
    page = air.exporter.get("/?map", headers={"Accept-Encoding": "gzip"}).body
    assert len(page) < 60_000 and len(gzip.decompress(page)) < 300_000
    browser.open(air.address + "/?map")
    assert names(browser) == {f"City {n:05}" for n in range(9000, 10_000)}
    assert len(browser.names()) == 100
    # The countries are loaded once, for all pages.
    asset = air.exporter.get(
        "/" + page_asset(gzip.decompress(page).decode()), headers={"Accept-Encoding": "gzip"})
    assert len(asset.body) < 60_000 and "immutable" in asset.headers["Cache-Control"]


def page_asset(page: str) -> str:
    return page.split('<use href="./')[1].split("#")[0]
