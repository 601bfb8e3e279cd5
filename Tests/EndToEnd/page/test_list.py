"""The list of cities in a real browser."""

import re

import pytest

from page.conftest import EXTRAS
from support.browser import Keys
from support.waiting import wait_for

BY_INDEX = ["Delhi", "Kolkata", "Mumbai", "Chennai", "Lucknow", "Indore"]


def test_faces_and_numbers_have_the_colours_of_their_category(start_air, browser):
    """Faces are drawings, not characters that a font may lack; words take at most two lines."""
    cities = {f"Town {number}": aqi for number, aqi in enumerate((25, 75, 125, 175, 275, 325))}
    air = start_air("--aqi.scale", "us", cities=cities)
    for scheme in ("light", "dark"):
        browser.show(1280, scheme=scheme)
        browser.open(air.address)
        drawings = browser.run(
            "return [...document.querySelectorAll('symbol')].map(e => e.innerHTML)"
        )
        assert len(set(drawings)) == 6
        rows = browser.run(
            """
            const color = (e, part = "backgroundColor") => getComputedStyle(e)[part];
            return [...document.querySelectorAll("li.city")].map(row => {
              const [index, face] = [".index", ".disc"].map(part => row.querySelector(part));
              return [
                color(row, "backgroundImage"), color(index), color(face),
                color(index, "color"), color(face, "stroke"),
                face.firstElementChild.getAttribute("href"), index.textContent,
              ];
            });
            """
        )
        assert [row[6] for row in rows] == ["325", "275", "175", "125", "75", "25"]
        assert [row[5] for row in rows] == [f"#face-{number}" for number in (6, 5, 4, 3, 2, 1)]
        assert len({row[0] for row in rows}) == 6, "rows have tints"
        assert len({row[1] for row in rows}) == 6
        assert all(row[1] == row[2] and row[3] == row[4] for row in rows)
        text = browser.find("body").text
        assert not re.search("[\U0001f300-\U0001faff\u2600-\u27bf]", text)
    for width in (320, 600, 1000, 1280):
        browser.show(width)
        lines, hole = browser.run(
            """
            const words = [...document.querySelectorAll("li.city .word")];
            const lines = words.map(word => {
              const range = document.createRange();
              range.selectNodeContents(word);
              return new Set([...range.getClientRects()].map(box => box.top)).size;
            });
            const left = e => e.getBoundingClientRect().left;
            const hole = e => left(e) - left(e.closest("li").querySelector(".name"));
            return [Math.max(...lines), Math.max(...words.map(hole))];
            """
        )
        assert lines <= 2 and hole <= 240, width


@pytest.mark.parametrize("count", [0, 1, 10_000])
def test_pages_fit_with_no_city_one_city_and_ten_thousand_cities(start_air, browser, count):
    """Without places and pollutants, no page mentions them."""
    air = start_air(*EXTRAS, "--history.capacity", "2")
    for first in range(0, count, 1000):
        numbers = range(first, min(count, first + 1000))
        air.send({f"City {number:05}": number / 20 for number in numbers})
    air.wait_for_cities(count)
    for path in ("/", "/?kiosk", "/?sort=name", "/about"):
        browser.open(air.address + path)
        cities = [] if path == "/about" else browser.names()
        most = {"/about": 0, "/?kiosk": 60}.get(path, 100)
        assert len(cities) == min(count, most), path
        assert not browser.all(".cause"), path
        assert bool(browser.all(".pager")) == (count > 100 and path in ("/", "/?sort=name")), path
        for width in (320, 1280):
            browser.show(width)
            assert browser.misfits() == [], f"{path}, {width} px"
    if count:
        name = f"City {count - 1:05}"
        browser.open(f"{air.address}/city/{name}")
        assert browser.text("h1") == name and not browser.all(".cause, .tiles")


def test_an_index_stays_on_one_line_at_any_size_of_text(start_air, browser):
    air = start_air(cities={"Delhi": 307, "New York": 9999})
    for text in (16, 24, 32):
        for width in (320, 412):
            browser.show(width, text=text)
            for path in ("/", "/city/Delhi", "/city/New%20York"):
                browser.open(air.address + path)
                wrong = browser.run(
                    """
                    const box = e => e.getBoundingClientRect();
                    return [...document.querySelectorAll(".index")].filter(index => {
                      const range = document.createRange();
                      range.selectNodeContents(index);
                      return new Set([...range.getClientRects()].map(box => box.top)).size > 1
                        || box(index).right > box(index.closest(".city, .current")).right;
                    }).map(index => index.textContent);
                    """
                )
                assert wrong + browser.misfits() == [], f"{path}, {width} px, {text}"


def test_long_names_on_a_full_wall_are_readable(start_air, browser):
    long = ["Los Angeles-Long Beach-Anaheim", "Washington-Arlington-Alexandria"]
    cities = [*long, "Miami-Fort Lauderdale-Pompano Beach", *(f"Town {n}" for n in range(57))]
    air = start_air(cities={name: 400 - 5 * place for place, name in enumerate(cities)})
    for width, height in ((1366, 768), (1920, 1080), (800, 600)):
        browser.show(width, height)
        browser.open(air.address + "/?kiosk")
        names = browser.run(
            """
            return [...document.querySelectorAll(".name")].slice(0, 4).map(name => {
              const range = document.createRange();
              range.selectNodeContents(name);
              const lines = new Set([...range.getClientRects()].map(box => box.top)).size;
              return [parseFloat(getComputedStyle(name).fontSize), lines];
            });
            """
        )
        for size, lines in names[:3]:
            assert size > 0.6 * names[3][0] and lines == 1, f"{width} px: {names}"
        assert browser.misfits() == []


def test_the_list_follows_the_feed_without_a_reload(air, browser):
    browser.open(air.address)
    browser.run("window.isTheSamePage = true")
    browser.wait_for("body[data-live]")
    air.say(Delhi=327.25)
    browser.wait_for("li[data-city=Delhi] .index", "327")
    # The order and the counts follow.
    air.say(Indore=411.5)
    wait_for(lambda: browser.names()[0] == "Indore", "the worst city on top")
    browser.wait_for(".summary [data-category='6'] b", "1")
    browser.wait_for(".summary [data-category='1'] b", "0")
    row = "li[data-city=Indore] "
    assert browser.text(row + ".word") == "Severe"
    assert browser.find(row + "use").get_attribute("href") == "#face-6"
    browser.wait_for(row + ".change.worse", "Worsened")
    arrow = "return getComputedStyle(document.querySelector(arguments[0]), '::before').content"
    assert "▼" in browser.run(arrow, row + ".worse")
    air.say(Kolkata=20)
    browser.wait_for("li[data-city=Kolkata] .change.better", "Improved")
    assert "▲" in browser.run(arrow, "li[data-city=Kolkata] .better")
    # A new city appears too.
    air.say(Agra=88)
    wait_for(lambda: "Agra" in browser.names(), "the new city")
    assert browser.run("return window.isTheSamePage")


def test_a_city_flashes_when_its_category_changes(air, browser):
    browser.open(air.address)
    browser.wait_for("body[data-live]")
    browser.run(
        """
        window.flashed = [];
        new MutationObserver(changes => {
          for (const { target } of changes) {
            if (target.dataset.flash !== undefined) window.flashed.push(
              target.dataset.city + " " + getComputedStyle(target, "::before").animationName);
          }
        }).observe(document.querySelector("main"),
          { attributes: true, attributeFilter: ["data-flash"], subtree: true });
        """
    )
    air.say(Delhi=330, Mumbai=40)
    wait_for(
        lambda: browser.run("return window.flashed") == ["Mumbai light"],
        "the flash of the one that changed",
    )
    wait_for(lambda: not browser.all("[data-flash]"), "its end")


def test_a_changed_city_is_marked_without_animation_under_reduced_motion(air, browser):
    browser.show(reduced_motion=True)
    browser.open(air.address)
    browser.wait_for("body[data-live]")
    air.say(Mumbai=40)
    browser.wait_for("[data-flash]")
    style = "getComputedStyle(document.querySelector('[data-flash]'), '::before')"
    assert browser.run(f"return {style}.animationName") == "none"
    # The change is still marked.
    assert browser.run(f"return {style}.boxShadow") != "none"


def test_the_order_is_remembered_in_the_address(air, browser):
    browser.open(air.address)
    browser.find("[aria-label=Order] a:nth-child(2)").click()
    wait_for(lambda: browser.names() == sorted(BY_INDEX), "the order of names")
    assert browser.driver.current_url == air.address + "/?sort=name"
    browser.wait_for("body[data-live]")
    air.say(Lucknow=30)
    browser.wait_for("li[data-city=Lucknow] .word", "Good")
    browser.find("[aria-label=Order] a:nth-child(3)").click()
    wait_for(lambda: browser.names()[0] == "Lucknow", "the last change first")
    assert browser.text("[aria-label=Order] [aria-current]") == "Last change"
    browser.driver.back()
    wait_for(lambda: browser.names() == sorted(BY_INDEX), "the order before")


def test_search_and_category_filter_can_be_combined(air, browser):
    browser.open(air.address)
    browser.find("#search").send_keys("n")
    wait_for(lambda: browser.names() == ["Chennai", "Lucknow", "Indore"], "the cities with an n")
    browser.find("#search").send_keys("n")
    wait_for(lambda: browser.names() == ["Chennai"], "the one with two")
    assert "search=nn" in browser.driver.current_url
    assert browser.focused == "search"
    # The counts cover only what the search finds.
    assert browser.text(".summary b") == "1|0|0|1|0|0|0"
    browser.find(".summary [data-category='1']").click()
    browser.wait_for(".empty", "No matching city.")
    browser.find(".empty a").click()
    wait_for(lambda: browser.names() == BY_INDEX, "all cities again")
    assert browser.find("#search").get_attribute("value") == ""
    browser.find(".summary [data-category='3']").click()
    wait_for(lambda: browser.names() == ["Mumbai", "Chennai"], "the moderate ones")
    # A city that leaves the category disappears from the list.
    air.say(Mumbai=20)
    wait_for(lambda: browser.names() == ["Chennai"], "the one that is left")


def test_the_list_can_be_used_with_the_keyboard_alone(air, browser):
    browser.open(air.address)
    browser.wait_for("body[data-live]")
    browser.press(Keys.TAB)
    assert browser.focused == "Skip to content"
    while browser.focused != "Kolkata":
        browser.press(Keys.TAB)
    # The focus stays on its city while the order changes around it.
    air.say(Kolkata=499)
    wait_for(lambda: browser.names()[0] == "Kolkata", "the new order")
    assert browser.focused == "Kolkata"
    browser.press(Keys.ENTER)
    browser.wait_for("h1", "Kolkata")
    assert browser.driver.current_url == air.address + "/city/Kolkata"


def test_the_displayed_age_of_a_reading_keeps_counting(air, browser):
    browser.open(air.address)
    before = browser.text("li[data-city=Delhi] .updated")
    assert before.endswith(" ago") or before.endswith("just now")
    wait_for(lambda: browser.text("li[data-city=Delhi] .updated") != before, "the next second")


def test_a_list_of_many_cities_is_split_into_pages(start_air, browser):
    cities = {f"City {number:04}": number % 500 for number in range(1000)}
    air = start_air("--history.capacity", "2", cities=cities)
    browser.open(air.address + "/?sort=name")
    assert browser.names() == [f"City {number:04}" for number in range(100)]
    assert browser.text(".summary li:first-child b") == "1000"
    # With the keyboard, because the layout may still shift under a mouse.
    browser.find(".pager [rel=next]").send_keys(Keys.ENTER)
    wait_for(lambda: browser.names()[0] == "City 0100", "the second page")
    assert browser.driver.current_url == air.address + "/?sort=name&page=2"
    browser.find("#search").send_keys("99")
    wait_for(lambda: len(browser.names()) == 19, "all cities with 99, from the first page on")
    assert not browser.all(".pager")


def test_hostile_and_long_city_names_are_shown_as_plain_text(start_air, browser):
    evil = "</script><img src=x onerror=alert(1)>"
    long = "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch" * 2
    names = [evil, "القاهرة", "עיר ‮left", long, "..", ".", "a/b?c#d%41", "\"&'<>"]
    air = start_air(cities={name: 10 + 60 * place for place, name in enumerate(names)})
    for width in (320, 1280):
        browser.show(width=width)
        browser.open(air.address + "/?sort=index")
        assert browser.names() == names[::-1]
        assert browser.text("li .name").split("|") == names[::-1]
        assert not browser.is_wider_than_the_screen()
        browser.open(f"{air.address}/?kiosk")
        assert browser.names() == names[::-1] and browser.text("li .name").split("|") == names[::-1]
        assert browser.misfits() == []
        for name in names:
            browser.open(air.address)
            rows = {row.get_attribute("data-city"): row for row in browser.all("li.city")}
            rows[name].find_element("css selector", ".name").click()
            browser.wait_for("h1", name)
            assert not browser.is_wider_than_the_screen()
    assert not browser.all("img")
