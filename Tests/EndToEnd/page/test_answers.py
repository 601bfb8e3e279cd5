"""What a person wants to know: how old, since when, what to do, and why nothing comes."""

import re
import time

import pytest

from page.conftest import EXTRAS
from support.peers import WebSocketFeed
from support.waiting import wait_for


@pytest.fixture
def overdue(start_air):
    """Delhi and Pune had readings each second; only Pune still has some."""
    air = start_air("--feed.idle-timeout", "3s", *EXTRAS)
    for age in (3, 2, 1, 0):
        air.say(Delhi=320, Pune=60, age=age)
    air.exporter.wait_for_sample("airquality_exporter_history_points", 8)
    return air


@pytest.mark.parametrize("path", ["/", "/?kiosk", "/city/Delhi"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_city_without_recent_readings_is_pale_and_says_how_old_it_is(
    overdue, browser, path, scheme
):
    browser.show(scheme=scheme)
    browser.open(overdue.address + path)
    city = "li[data-city=Delhi]" if "city" not in path else ".current"
    color = "return getComputedStyle(document.querySelector(arguments[0])).backgroundColor"
    fresh = browser.run(color, f"{city} .index")

    def is_old():
        overdue.say(Pune=60 + time.time() % 5)
        return re.search(r"\d+ s old", browser.text(city))

    wait_for(is_old, "the age")
    assert browser.run(color, f"{city} .index") != fresh
    assert "updated" not in browser.text(city)
    assert browser.accessibility_violations() == []
    if path != "/city/Delhi":
        assert "old" not in browser.text("li[data-city=Pune]")
    assert browser.all(".feed.live"), "the feed itself is live"
    # A new reading ends the pale state.
    overdue.say(Delhi=330)
    wait_for(lambda: " old" not in browser.text(city), "the new reading")
    assert browser.run(color, f"{city} .index") == fresh


def test_the_pages_of_a_wall_turn_with_and_without_script(start_air, reader):
    air = start_air("--history.capacity=2", cities={f"Town {n:03}": 400 - n for n in range(300)})
    reader.show(1920, 1080)
    reader.open(air.address + "/?kiosk")
    names = lambda: reader.text("li .name").split("|")  # noqa: E731
    assert names() == [f"Town {n:03}" for n in range(60)], "the worst first"
    assert reader.text(".turn") == "Page 1 of 5"
    assert reader.run("return document.documentElement.scrollHeight <= innerHeight")
    wait_for(lambda: reader.text(".turn") == "Page 2 of 5", "the second page")
    assert names() == [f"Town {n:03}" for n in range(60, 120)]
    # After the last page comes the first.
    reader.open(air.address + "/?kiosk&page=5")
    assert names()[-1] == "Town 299"
    wait_for(lambda: reader.text(".turn") == "Page 1 of 5", "the first page again")


@pytest.mark.parametrize("screen", [(1280, 800), (1920, 1080), (3840, 2160), (390, 844)])
@pytest.mark.parametrize("count", [3, 12, 24, 60])
def test_no_arrow_stands_without_its_word(start_air, browser, screen, count):
    air = start_air()
    names = [f"Town {n}" for n in range(count)]
    air.send({name: 20 for name in names}, age=40 * 60)
    air.send({name: 120 + n for n, name in enumerate(names)})
    air.exporter.wait_for_sample("airquality_exporter_feed_readings_total", 2 * count)
    browser.show(*screen)
    for path in ("/", "/?kiosk"):
        browser.open(air.address + path)
        words = browser.run(
            """
            const changes = [...document.querySelectorAll("li .change")]
              .filter(change => change.checkVisibility({ contentVisibilityAuto: true }));
            return changes.map(change => {
              const range = document.createRange();
              range.selectNodeContents(change.firstChild);
              const [word, index] = [range, change.closest("li").querySelector(".index")]
                .map(part => part.getBoundingClientRect());
              const isApart = word.right <= index.left || word.top >= index.bottom;
              return isApart && word.height >= 8 ? change.innerText : "";
            });
            """
        )
        assert words and all("Worsened" in word for word in words), (path, words)
        assert path == "/" or len(words) == count


def test_a_hovering_value_flashes_once_a_minute_at_most(start_air, browser):
    air = start_air(cities={"Delhi": 199})
    browser.open(air.address)
    browser.wait_for("body[data-live]")
    browser.run(
        """
        window.flashes = 0;
        new MutationObserver(changes => changes.forEach(({ target, oldValue }) => {
          if (oldValue === null && "flash" in target.dataset) window.flashes += 1;
        })).observe(document.querySelector("main"), {
          attributes: true, attributeFilter: ["data-flash"], attributeOldValue: true, subtree: true,
        });
        """
    )
    for turn in range(5):
        aqi, word = ((202, "Poor"), (199, "Moderate"))[turn % 2]
        air.say(Delhi=aqi)
        browser.wait_for("li[data-city=Delhi] .word", word)
        wait_for(lambda: not browser.all("[data-flash]"), "the end of the flash")
    assert browser.run("return window.flashes") == 1


def test_a_feed_that_is_down_from_the_start_is_named_as_the_reason(start, reader, python_feed):
    python_feed.stop()
    exporter = start.exporter("--feed.url", python_feed.url)
    wait_for(lambda: "not connected (" in exporter.get("/-/ready").text, "the reason")
    reader.open(f"http://{exporter.address}/")
    reader.wait_for(".banner", "Waiting for the first reading.")
    reader.wait_for(".banner", "Not connected: the server cannot be reached")
    assert "127.0.0.1" not in reader.text("body")


@pytest.mark.parametrize("count", [1, 3, 12, 24])
def test_the_list_has_two_columns_from_640_px_and_counts_in_one_row(start_air, browser, count):
    air = start_air("--aqi.scale=us", cities={f"Town {n}": 20 + 15 * n for n in range(count)})
    for width in (320, 360, 390, 640, 768, 1280, 1920):
        browser.show(width)
        browser.open(air.address)
        lefts, tops = browser.run(
            """
            const all = (selector, side) => [...document.querySelectorAll(selector)]
              .map(e => Math.round(e.getBoundingClientRect()[side]));
            return [all("li.city", "left"), all(".summary li", "top")];
            """
        )
        if width in (640, 768):
            assert len(set(lefts)) == min(2, count), width
        assert len(set(tops)) == 1, width
        assert browser.misfits() == [], width


def test_the_chart_is_wide_on_a_phone_and_names_its_bands_inside(air, browser):
    browser.show(360)
    browser.open(air.address + "/city/Delhi")
    area, names = browser.run(
        """
        const box = e => e.getBoundingClientRect();
        const { left, right, width } = box(document.querySelector("#area"));
        return [width, [...document.querySelectorAll(".band-name p")]
          .map(p => box(p).left >= left - 1 && box(p).right <= right + 1)];
        """
    )
    assert area >= 260
    assert len(names) >= 4 and all(names)


def test_advice_and_country_are_on_the_card_and_on_the_page_of_the_city(air, browser):
    browser.open(air.address)
    card = browser.text("li[data-city=Delhi]")
    assert "IN" in card.split() and "Sport: Avoid prolonged or heavy exertion" in card
    browser.open(air.address + "/city/Delhi")
    text = browser.text(".current")
    assert re.search(r"Sport outdoors\s+Avoid prolonged or heavy exertion", text)
    assert re.search(r"Sensitive people\s+Avoid all physical activity outdoors", text)
    assert browser.text(".country") == "IN"


def test_the_title_of_the_tab_follows_the_aqi(air, browser):
    browser.open(air.address + "/city/Delhi")
    assert browser.driver.title == "318 Delhi · Air quality"
    browser.wait_for("body[data-live]")
    air.say(Delhi=327.25)
    wait_for(lambda: browser.driver.title == "327 Delhi · Air quality", "the title")


@pytest.mark.parametrize("zone,minutes", [("UTC", 0), ("Europe/Berlin", 60), ("Asia/Kolkata", 330)])
@pytest.mark.parametrize("hours", [10, 60, 24 * 20])
def test_marks_of_the_time_axis_are_at_round_times_of_the_reader(
    start_air, browser, zone, minutes, hours
):
    air = start_air()
    for step in range(10, -1, -1):
        air.send({"Delhi": 200 + step}, age=hours * 360 * step)
    air.exporter.wait_for_sample("airquality_exporter_history_points", 11)
    browser.show(zone=zone)
    browser.open(air.address + "/city/Delhi")
    marks = browser.run(
        """
        const shown = [...document.querySelectorAll(".ticks text:not([hidden])")];
        return shown.map(mark => {
          const time = new Date(Number(mark.dataset.ms));
          const x = parseFloat(mark.getAttribute("x"));
          return [mark.textContent, time.getHours(), time.getMinutes(), x];
        });
        """
    )
    assert len(marks) >= 3
    places = [x for *_, x in marks]
    assert places == sorted(places) and 0 <= places[0] and places[-1] <= 100
    for text, hour, minute, _ in marks:
        assert minute == 0 and text.endswith(f"{hour:02}:00"), marks
        assert hours == 10 or hour % 12 == 0, marks
    lines = browser.run(
        """
        return [...document.querySelectorAll(".mark")].filter(e => !e.hasAttribute("hidden"))
          .map(e => parseFloat(e.getAttribute("x1")));
        """
    )
    assert lines == places


def test_an_unknown_city_is_a_page_for_browsers_and_a_line_for_others(air, reader):
    reader.show(360)
    reader.open(air.address + "/city/Atlantis")
    assert reader.text("h1") == "No such city"
    assert not reader.is_wider_than_the_screen()
    size = "return parseFloat(getComputedStyle(document.querySelector('main p')).fontSize)"
    assert reader.run(size) >= 16
    reader.find("main a").click()
    reader.wait_for("li[data-city=Delhi]")
    assert all("404" in error for error in reader.errors())
    line = air.exporter.get("/city/Atlantis")
    assert line.status == 404 and line.text == "no such city; see / for the list\n"


def test_a_simulated_feed_says_so(start, browser):
    with WebSocketFeed(source="simulated; kind=simulation") as feed:
        exporter = start.reader(feed)
        feed.send([{"city": "Delhi", "aqi": 200}])
        exporter.wait_for_sample("airquality_exporter_cities", 1)
        browser.open(f"http://{exporter.address}/")
        assert "Source: simulated, not measured." in browser.text("footer")
        browser.open("about:blank")
