"""The chart of one city in a real browser."""

import re

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.interaction import POINTER_TOUCH
from selenium.webdriver.common.actions.pointer_input import PointerInput

from support.browser import Keys
from support.waiting import wait_for


@pytest.fixture
def delhi(start_air):
    """25 points, one minute apart, rising from 195 to 435."""
    air = start_air()
    for number in range(25):
        air.send({"Delhi": 195 + 10 * number, "Chennai": 40, "Kolkata": 60}, age=60 * (24 - number))
    air.exporter.wait_for_sample("airquality_exporter_history_points", 75)
    return air


def lengths(browser, selector: str = "polyline.line") -> list[int]:
    """The number of points in each segment of the line."""
    return browser.run(
        "return [...document.querySelectorAll(arguments[0])].map(e => e.points.length)", selector
    )


def indices(browser) -> list[int]:
    """The indices in the table's rows, oldest first."""
    cells = "return [...document.querySelectorAll('#points td.number')].map(e => e.textContent)"
    return [int(cell) for cell in reversed(browser.run(cells))]


def clock(browser, selector: str = ".tip") -> str:
    return browser.text(selector).split(" ")[0]


def test_the_chart_shows_every_point_in_the_band_of_its_category(delhi, reader):
    reader.open(delhi.address + "/city/Delhi")
    assert indices(reader) == [195 + 10 * number for number in range(25)]
    assert len(reader.all("circle.point")) == 25
    assert lengths(reader) == [26]
    # Each point lies in the band of its own category.
    wrong = reader.run(
        """
        const box = e => e.getBoundingClientRect();
        const bands = [...document.querySelectorAll("rect.band")];
        return [...document.querySelectorAll("circle.point")].filter(point => {
          const middle = (box(point).top + box(point).bottom) / 2;
          return !bands.some(band => band.classList[1] === point.classList[1]
            && box(band).top - 1 <= middle && middle <= box(band).bottom + 1);
        }).length;
        """
    )
    assert wrong == 0


def test_an_open_chart_is_updated_without_a_reload(delhi, browser):
    browser.open(delhi.address + "/city/Delhi")
    browser.run("window.isTheSamePage = true")
    browser.wait_for("body[data-live]")
    delhi.say(Delhi=120.5)
    browser.wait_for(".current .index", "120")
    browser.wait_for(".current .word", "Moderate")
    browser.wait_for(".health", "lung")
    wait_for(lambda: indices(browser)[-1] == 120, "the new point")
    assert browser.run("return window.isTheSamePage")


def test_pointing_at_a_point_shows_its_time_index_and_category(delhi, browser):
    browser.open(delhi.address + "/city/Delhi")
    point = browser.all("circle.point")[3]
    ActionChains(browser.driver).move_to_element(point).perform()
    browser.wait_for(".tip", " 225 Poor")
    assert len(clock(browser)) == len("04:49")
    # Anywhere else on the chart, the nearest point is shown.
    ActionChains(browser.driver).move_to_element_with_offset(point, 3, 120).perform()
    browser.wait_for(".tip", " 225 Poor")
    ActionChains(browser.driver).move_to_element(browser.find("h1")).perform()
    wait_for(lambda: not browser.find(".tip").is_displayed(), "its end")
    finger = ActionBuilder(browser.driver, mouse=PointerInput(POINTER_TOUCH, "finger"))
    finger.pointer_action.move_to(point).pointer_down().pointer_up()
    finger.perform()
    browser.wait_for(".tip", " 225 Poor")


def test_the_keyboard_moves_from_point_to_point(delhi, browser):
    browser.open(delhi.address + "/city/Delhi")
    browser.run("document.querySelector('#area').focus()")
    browser.press(Keys.END)
    assert "435 Severe" in browser.text(".tip")
    browser.press(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert "415 Severe" in browser.text(".tip")
    browser.press(Keys.HOME, Keys.ARROW_RIGHT)
    assert "205 Poor" in browser.text(".tip")
    # The selected point survives a redraw.
    browser.wait_for("body[data-live]")
    delhi.say(Delhi=440)
    browser.wait_for(".current .index", "440")
    assert "Poor" in browser.text(".tip") and browser.focused == "area"
    browser.press(Keys.ESCAPE)
    assert not browser.find(".tip").is_displayed()
    browser.press(Keys.END)
    assert "440 Severe" in browser.text(".tip")
    # The tip leaves with the focus.
    browser.press(Keys.TAB)
    assert not browser.find(".tip").is_displayed()


def test_the_chart_zooms_in_pans_and_returns_to_the_whole_period(delhi, reader):
    reader.open(delhi.address + "/city/Delhi")
    reader.find("[aria-label='Time shown'] a").click()
    wait_for(lambda: 0 < len(indices(reader)) < 25, "fewer points")
    assert "from=" in reader.driver.current_url and "to=" in reader.driver.current_url
    lowest = min(indices(reader))
    reader.find("[aria-label='Time shown'] a:last-child").click()
    wait_for(lambda: min(indices(reader)) > lowest, "later points")
    reader.find("[aria-label='Time shown'] a:nth-child(2)").click()
    wait_for(lambda: min(indices(reader)) <= lowest, "earlier points")
    reader.find("[aria-label=Period] a:last-child").click()
    wait_for(lambda: len(indices(reader)) == 25, "all points")
    assert reader.driver.current_url == delhi.address + "/city/Delhi?#chart"


def test_many_bars_have_a_line_above_them(start_air, reader):
    """So many have no outline, and their colour hardly differs from that of the band."""
    air = start_air("--history.capacity", "150")
    for age in range(150, 0, -1):
        air.send({"Delhi": 110 + age % 60}, age=60 * age)
    air.exporter.wait_for_sample("airquality_exporter_history_points", 150)
    reader.open(air.address + "/city/Delhi?chart=bars")
    assert len(reader.all("rect.bar.thin")) == 150 and lengths(reader) == [151]


def test_the_chart_can_be_switched_between_line_and_bars(delhi, browser):
    browser.open(delhi.address + "/city/Delhi")
    browser.find("[aria-label^=Kind] a:last-child").click()
    wait_for(lambda: len(browser.all("rect.bar")) == 25, "bars")
    assert not browser.all("polyline.line")
    assert browser.driver.current_url == delhi.address + "/city/Delhi?chart=bars#chart"
    ActionChains(browser.driver).move_to_element(browser.all("rect.bar")[3]).perform()
    browser.wait_for(".tip", " 225 Poor")
    browser.find("[aria-label^=Kind] a").click()
    wait_for(lambda: lengths(browser) == [26], "the line again")


def test_no_label_overlaps_a_bar(delhi, reader):
    reader.open(delhi.address + "/city/Delhi?chart=bars")
    assert len(reader.all("rect.bar")) == 25
    covered = reader.run(
        """
        const box = e => e.getBoundingClientRect();
        const bars = [...document.querySelectorAll("rect.bar")].map(box);
        const labels = [...document.querySelectorAll(".band-name p, .plot text, figcaption")];
        return labels.filter(label => bars.some(bar => {
          const range = document.createRange();
          range.selectNodeContents(label);
          const text = box(range);
          return text.left < bar.right && bar.left < text.right
            && text.top < bar.bottom && bar.top < text.bottom;
        })).map(label => label.textContent);
        """
    )
    assert covered == []


def test_the_table_lists_every_point_and_stays_open_on_updates(delhi, browser):
    browser.open(delhi.address + "/city/Delhi")
    browser.find("#points summary").click()
    rows = browser.text("#points tbody tr").split("|")
    assert len(rows) == 25
    assert "435" in rows[0] and "Severe" in rows[0] and "195" in rows[-1]
    # The open table stays open when the chart is updated.
    delhi.say(Delhi=440)
    browser.wait_for("#points tbody tr", "440")


def test_times_are_in_the_time_zone_of_the_browser(delhi, browser):
    minutes = {}
    for zone in ("UTC", "Asia/Kolkata"):
        browser.show(zone=zone)
        browser.open(delhi.address + "/city/Delhi")
        browser.run("document.querySelector('#area').focus()")
        browser.press(Keys.END)
        shown = clock(browser)
        minutes[zone] = int(shown[:2]) * 60 + int(shown[3:5])
    assert (minutes["Asia/Kolkata"] - minutes["UTC"]) % 1440 == 330
    assert re.fullmatch(r".+ 20\d\d .+, Asia/\w+", browser.text("figcaption"))


def test_the_tooltip_stays_open_while_a_long_history_moves_on(start_air, browser):
    air = start_air("--history.capacity", "650")
    for age in range(660, 10, -1):
        air.send({"Delhi": 100 + age * 7 % 90}, age=age)
    air.exporter.wait_for_sample("airquality_exporter_history_points", 650)
    browser.open(air.address + "/city/Delhi")
    browser.wait_for("body[data-live]")
    browser.run("document.querySelector('#area').focus()")
    browser.press(Keys.END, *[Keys.ARROW_LEFT] * 9)
    for age in range(9, 0, -2):
        air.say(age=age, Delhi=400 + age)
        browser.wait_for(".current .index", str(400 + age))
        assert browser.find(".tip").is_displayed()
    label = browser.find("#area").get_attribute("aria-label")
    assert re.search(r"\d+ of 650 points, listed in the table below", label)


def test_a_single_point_after_a_gap_is_drawn_even_among_many_points(start_air, reader):
    air = start_air("--history.capacity", "1000")
    for age in (*range(9000, 600, -60), 300):
        air.send({"Delhi": 200}, age=age)
    air.exporter.wait_for_sample("airquality_exporter_history_points", 141)
    reader.open(air.address + "/city/Delhi")
    assert not reader.all("circle.point") and lengths(reader) == [141, 2]
    # The last bar is not cut off, even in a fixed range.
    reader.open(f"{air.address}/city/Delhi?chart=bars&range=3h")
    edge, last = reader.run(
        "return ['#area', '.bar'].map("
        "s => [...document.querySelectorAll(s)].at(-1).getBoundingClientRect().right)"
    )
    assert last <= edge


def test_the_range_links_show_the_last_hours_and_days(start_air, reader):
    hour = 3600
    air = start_air("--history.capacity", "100")
    for age in (100, 30, 23.9, 20, 10, 2, 1, 0):
        air.send({"Delhi": 100 + round(age)}, age=age * hour)
    air.exporter.wait_for_sample("airquality_exporter_history_points", 8)
    reader.open(air.address + "/city/Delhi")
    shown = lambda: len(indices(reader))  # noqa: E731
    assert shown() == 8
    for place, count in enumerate((3, 6, 8), start=1):
        reader.find(f"[aria-label=Period] a:nth-child({place})").click()
        wait_for(lambda: shown() == count, f"the points of range {place}")
        assert reader.all(f"[aria-label=Period] a:nth-child({place})[aria-current=true]")
    assert reader.driver.current_url.endswith("?range=7d#chart")
    reader.find("[aria-label=Period] a:last-child").click()
    wait_for(lambda: shown() == 8, "all points")


@pytest.mark.parametrize("text", [16, 24, 32])
def test_no_text_of_an_axis_overlaps_another_at_any_size_of_text(delhi, browser, text):
    for width in (320, 360, 480, 1280, 3840):
        browser.show(width, text=text)
        browser.open(delhi.address + "/city/Delhi")
        overlaps = browser.run(
            """
            const texts = [...document.querySelectorAll(".levels text, .ticks text")]
              .filter(text => text.checkVisibility());
            const meet = (a, b) => Math.min(a.right, b.right) > Math.max(a.left, b.left) + 1
              && Math.min(a.bottom, b.bottom) > Math.max(a.top, b.top) + 1;
            const box = e => e.getBoundingClientRect();
            return texts.flatMap((one, at) => texts.slice(at + 1)
              .filter(other => meet(box(one), box(other))).map(other =>
                one.textContent + " / " + other.textContent));
            """
        )
        assert overlaps == [], width


@pytest.mark.parametrize("days", [1.1, 1.5, 2.5, 4, 7, 500])
def test_no_label_of_the_time_axis_overlaps_another(start_air, browser, days):
    air = start_air()
    air.send({"Delhi": 100}, age=round(days * 86_400))
    air.send({"Delhi": 200})
    air.exporter.wait_for_sample("airquality_exporter_history_points", 2)
    for width in (320, 390, 640, 1024, 1160, 1920):
        browser.show(width, zone="America/Los_Angeles")
        browser.open(air.address + "/city/Delhi")
        assert browser.run(
            """
            const labels = [...document.querySelectorAll(".ticks text")]
              .filter(text => text.checkVisibility()).map(text => text.getBoundingClientRect());
            return labels.length > arguments[0]
              && labels.slice(1).every((box, at) => box.left > labels[at].right + 2);
            """,
            0 if width == 320 or days == 500 and width < 480 else 1,
        ), width
