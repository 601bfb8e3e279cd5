"""The chart of one city in a real browser."""

import re

import pytest
from selenium.webdriver.common.action_chains import ActionChains

from support.browser import Keys
from support.waiting import wait_for


@pytest.fixture
def delhi(breathe):
    """25 points, a minute apart, from 195 up to 435."""
    air = breathe("--web.grafana-url", "https://grafana.example/")
    for number in range(25):
        air.send({"Delhi": 195 + 10 * number, "Chennai": 40, "Kolkata": 60}, age=60 * (24 - number))
    air.exporter.wait_for_sample("airquality_exporter_history_points", 75)
    return air


def lengths(browser, selector: str = "polyline.line") -> list[int]:
    """Of each run of a line: its points."""
    return browser.run("return [...document.querySelectorAll(arguments[0])].map(e => e.points.length)", selector)


def clock(browser, selector: str = ".tip") -> str:
    return browser.text(selector).split(" ")[0]


def test_shows_the_points_over_the_bands(delhi, reader):
    reader.open(delhi.address + "/city/Delhi")
    assert reader.text("h1") == "Delhi"
    assert reader.text(".current .index") == "435"
    assert reader.text(".current .word") == "Severe"
    assert reader.text(".health") .endswith("Everyone: avoid all physical activity outdoors.")
    points = reader.run(
        "return [...document.querySelectorAll('circle.point')].map(e => [Number(e.dataset.aqi), e.dataset.category])"
    )
    assert [aqi for aqi, _ in points] == [195 + 10 * number for number in range(25)]
    assert {category for _, category in points} == {"3", "4", "5", "6"}
    assert lengths(reader) == [25]
    # Where HTML allows a caption, and with what the axis counts.
    assert reader.text("figure > figcaption:first-child").startswith("Times in ")
    assert reader.text(".levels .unit") == "AQI India"
    assert reader.text(".band-name").split("|") == ["Moderate", "Poor", "Very Poor", "Severe"]
    # Bands do not overlap, and each point stands in its own.
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
    assert reader.text(".statistics b").split("|") == ["195", "315", "435"]
    assert reader.find(".links a").get_attribute("href") == "https://grafana.example/d/aqi-city?var-city=Delhi"


def test_goes_on_while_it_is_looked_at(delhi, browser):
    browser.open(delhi.address + "/city/Delhi")
    browser.run("window.isTheSamePage = true")
    browser.wait_for("body[data-live]")
    delhi.say(Delhi=120.5)
    browser.wait_for(".current .index", "120")
    browser.wait_for(".current .word", "Moderate")
    browser.wait_for(".health", "lung")
    wait_for(
        lambda: browser.run("return [...document.querySelectorAll('circle.point')].at(-1).dataset.aqi") == "120.50",
        "the new point",
    )
    assert browser.run("return window.isTheSamePage")


def test_pointer_shows_time_value_and_category(delhi, browser):
    browser.open(delhi.address + "/city/Delhi")
    point = browser.all("circle.point")[3]
    ActionChains(browser.driver).move_to_element(point).perform()
    browser.wait_for(".tip", "AQI India 225 Poor")
    assert len(clock(browser)) == len("04:49")
    # Anywhere on the chart, the nearest.
    ActionChains(browser.driver).move_to_element_with_offset(point, 3, 120).perform()
    browser.wait_for(".tip", "AQI India 225 Poor")
    ActionChains(browser.driver).move_to_element(browser.find("h1")).perform()
    wait_for(lambda: not browser.find(".tip").is_displayed(), "its end")


def test_keyboard_walks_and_zooms(delhi, browser):
    browser.open(delhi.address + "/city/Delhi")
    browser.run("document.querySelector('#area').focus()")
    browser.press(Keys.END)
    assert "435 Severe" in browser.text(".tip")
    browser.press(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert "415 Severe" in browser.text(".tip")
    browser.press(Keys.HOME, Keys.ARROW_RIGHT)
    assert "205 Poor" in browser.text(".tip")
    browser.press("+")
    wait_for(lambda: 0 < len(browser.all("circle.point")) < 25, "fewer points")
    assert "from=" in browser.driver.current_url
    assert browser.focused == "area"
    browser.press("0")
    wait_for(lambda: len(browser.all("circle.point")) == 25, "all points")
    assert browser.driver.current_url == delhi.address + "/city/Delhi?"
    browser.press(Keys.ARROW_LEFT, Keys.ESCAPE)
    assert not browser.find(".tip").is_displayed()


def test_dragging_zooms_and_the_way_back_is_there(delhi, browser):
    browser.open(delhi.address + "/city/Delhi")
    one, other = browser.all("circle.point")[4], browser.all("circle.point")[9]
    ActionChains(browser.driver).move_to_element_with_offset(one, -4, 0).click_and_hold().move_to_element_with_offset(
        other, 4, 0
    ).release().perform()
    shown = "return [...document.querySelectorAll('circle.point')].map(e => Number(e.dataset.aqi))"
    wait_for(lambda: browser.run(shown) == [235, 245, 255, 265, 275, 285], "the six points between")
    assert "from=" in browser.driver.current_url and "to=" in browser.driver.current_url
    assert browser.text(".statistics b").split("|") == ["235", "260", "285"]
    browser.find("#later").click()
    wait_for(lambda: max(browser.run(shown) or [0]) > 285, "later points")
    browser.driver.back()
    wait_for(lambda: browser.run(shown) == [235, 245, 255, 265, 275, 285], "the step before")
    browser.find("#zoom-all").click()
    wait_for(lambda: len(browser.run(shown)) == 25, "all points")
    # A click is no zoom.
    ActionChains(browser.driver).move_to_element(browser.all("circle.point")[4]).click().perform()
    assert browser.driver.current_url == delhi.address + "/city/Delhi?"


def test_bars_are_the_alternative(delhi, browser):
    browser.open(delhi.address + "/city/Delhi")
    browser.find("#as-bars").click()
    wait_for(lambda: len(browser.all("rect.bar")) == 25 and not browser.all("polyline.line"), "bars instead of the line")
    assert browser.driver.current_url == delhi.address + "/city/Delhi?chart=bars"
    ActionChains(browser.driver).move_to_element(browser.all("rect.bar")[3]).perform()
    browser.wait_for(".tip", "AQI India 225 Poor")
    browser.find("#as-line").click()
    wait_for(lambda: lengths(browser) == [25], "the line again")


def test_no_label_is_over_a_bar(delhi, reader):
    reader.open(delhi.address + "/city/Delhi?chart=bars")
    assert len(reader.all("rect.bar")) == 25
    covered = reader.run(
        """
        const box = e => e.getBoundingClientRect();
        const bars = [...document.querySelectorAll("rect.bar")].map(box);
        return [...document.querySelectorAll(".band-name p, .plot text, figcaption")].filter(label => bars.some(bar => {
          const range = document.createRange();
          range.selectNodeContents(label);
          const text = box(range);
          return text.left < bar.right && bar.left < text.right && text.top < bar.bottom && bar.top < text.bottom;
        })).map(label => label.textContent);
        """
    )
    assert covered == []


def test_table_has_the_points(delhi, browser):
    browser.open(delhi.address + "/city/Delhi")
    browser.find("#points summary").click()
    rows = browser.text("#points tbody tr").split("|")
    assert len(rows) == 25
    assert "435" in rows[0] and "Severe" in rows[0] and "195" in rows[-1]
    # What is open stays open when the chart goes on.
    delhi.say(Delhi=440)
    browser.wait_for("#points tbody tr", "440")


def test_leads_to_the_neighbours(delhi, browser):
    browser.open(delhi.address + "/city/Delhi")
    assert " ".join(browser.find("[rel=next]").text.split()) == "Next: Kolkata"
    browser.find("[rel=next]").click()
    browser.wait_for("h1", "Kolkata")
    assert not browser.all("[rel=next]")
    browser.find("[rel=prev]").click()
    browser.wait_for("h1", "Delhi")
    browser.find("[rel=prev]").click()
    browser.wait_for("h1", "Chennai")
    browser.find(".steps a").click()
    browser.wait_for("li[data-city=Delhi]")


def test_times_are_the_readers(delhi, browser):
    address = delhi.address + "/city/Delhi"
    browser.open(address)
    browser.run("document.querySelector('#area').focus()")
    browser.press(Keys.END)
    greenwich = clock(browser)
    browser.show(zone="Asia/Kolkata")
    browser.open(address)
    browser.run("document.querySelector('#area').focus()")
    browser.press(Keys.END)
    minutes = lambda text: int(text[:2]) * 60 + int(text[3:5])  # noqa: E731
    assert (minutes(clock(browser)) - minutes(greenwich)) % 1440 == 330
    assert re.fullmatch(r"Times in your time zone \(Asia/\w+\)", browser.text("figcaption"))


def test_unknown_city_has_a_way_back(delhi, browser):
    browser.open(delhi.address + "/city/Del")
    assert browser.text("h1") == "Unknown city"
    browser.all("main a")[1].click()
    browser.wait_for("li[data-city=Delhi]")
    # The 404 itself.
    assert [error for error in browser.errors() if "404" not in error] == []


def test_a_gap_is_a_gap(breathe, reader):
    """Nothing is drawn over a time of which nothing is known."""
    air = breathe()
    for age in [3600 - 60 * number for number in range(10)] + [600 - 60 * number for number in range(10)]:
        air.send({"Delhi": 200 + age / 60}, age=age)
    air.exporter.wait_for_sample("airquality_exporter_history_points", 20)
    reader.open(air.address + "/city/Delhi")
    assert len(reader.all("circle.point")) == 20
    assert len(reader.all("rect.gap")) == 1 and reader.text(".area text") == "No data"
    assert reader.run("return getComputedStyle(document.querySelector('.gap')).fill").startswith('url("#hatch")')
    assert lengths(reader) == [10, 10]
    assert len(reader.all("line.level")) >= 2


def test_a_point_alone_is_seen_among_many(breathe, reader):
    air = breathe("--history.capacity", "1000")
    for age in [9000 - 60 * number for number in range(140)] + [300]:
        air.send({"Delhi": 200}, age=age)
    air.exporter.wait_for_sample("airquality_exporter_history_points", 141)
    reader.open(air.address + "/city/Delhi")
    seen = reader.run(
        "return [...document.querySelectorAll('.point')].map(e => getComputedStyle(e).opacity != 0)")
    assert seen == [False] * 140 + [True]
    # The last one is whole, in a range too.
    for query in ("?range=3h", "?chart=bars&range=3h"):
        reader.open(f"{air.address}/city/Delhi{query}")
        edge, last = reader.run(
            "return ['#area', '.bar, .point:not(.small)'].map("
            "s => [...document.querySelectorAll(s)].at(-1).getBoundingClientRect().right)")
        assert last <= edge, query


def test_each_city_of_two_has_its_own_gaps(breathe, reader):
    air = breathe("--history.capacity", "30")
    for minute in range(30):
        cities = {"Delhi": 100 + minute} | ({"Pune": 200 + minute} if not 8 <= minute < 22 else {})
        air.send(cities, age=60 * (30 - minute))
    air.exporter.wait_for_sample("airquality_exporter_history_points", 46)
    reader.open(air.address + "/city/Delhi?compare=Pune")
    assert lengths(reader, ".line:not(.other)") == [30] and lengths(reader, ".line.other") == [8, 8]
    titles = [title.get_attribute("textContent").strip() for title in reader.all("circle.point title")]
    assert titles[-1].endswith(" AQI India 129 Moderate, +1; Pune 229")
    assert ["Pune" in title for title in titles] == [True] * 8 + [False] * 14 + [True] * 8
    rows = reader.run("return [...document.querySelectorAll('#points tr')].map(e => e.lastElementChild.textContent)")
    assert (rows[0], rows[1], rows[15], rows[30]) == ("Pune", "229", "", "200")
    reader.open(air.address + "/city/Pune?compare=Delhi")
    assert lengths(reader, ".line:not(.other)") == [8, 8] and lengths(reader, ".line.other") == [30]


def test_a_day_has_its_date_where_it_begins(breathe, browser):
    air = breathe("--history.capacity", "100")
    for age in range(24):
        air.send({"Delhi": 100 + age}, age=3600 * (23 - age))
    air.exporter.wait_for_sample("airquality_exporter_history_points", 24)
    for zone in ("UTC", "Asia/Dhaka"):
        browser.show(zone=zone)
        browser.open(air.address + "/city/Delhi?range=24h")
        ticks = browser.text(".ticks text").split("|")
        dated = [tick for tick in ticks if re.fullmatch(r"\d+ [A-Z][a-z]{2} \d\d:\d\d", tick)]
        # With the margins 24 h and 9 min are in view: two midnights, if it is just before or after one.
        assert 1 <= len(dated) <= 2 and dated == [tick for tick in ticks if tick.endswith("00:00")], ticks


def test_shows_how_far_the_next_category_is(breathe, reader):
    air = breathe()
    for age in (120, 60, 0):
        air.send({"Delhi": 30}, age=age)
    air.exporter.wait_for_sample("airquality_exporter_history_points", 3)
    reader.open(air.address + "/city/Delhi")
    assert reader.text(".band-name").split("|") == ["Good", "Satisfactory"]


def test_ranges_lead_to_the_last_hours_and_days(breathe, reader):
    hour = 3600
    air = breathe("--history.capacity", "100")
    for age in (100, 30, 23.9, 20, 10, 2, 1, 0):
        air.send({"Delhi": 100 + round(age)}, age=age * hour)
    air.exporter.wait_for_sample("airquality_exporter_history_points", 8)
    reader.open(air.address + "/city/Delhi")
    shown = lambda: len(reader.all("circle.point"))  # noqa: E731
    assert shown() == 8
    for link, count in (("#range-3h", 3), ("#range-24h", 6), ("#range-7d", 8)):
        reader.find(link).click()
        wait_for(lambda: shown() == count, f"the points of {link}")
        assert reader.find(link).get_attribute("aria-current") == "true"
    assert reader.driver.current_url.endswith("?range=7d")
    head = " ".join(reader.find(".current").text.split())
    assert "Last hour −1" in head and "Since yesterday −24" in head
    # Dates as people write them.
    assert all(re.fullmatch(r"\d+ [A-Z][a-z]{2}", tick) for tick in reader.text(".ticks text").split("|"))
    reader.find("#zoom-all").click()
    wait_for(lambda: shown() == 8, "all points")


def test_compares_two_cities(delhi, reader):
    reader.open(delhi.address + "/city/Delhi")
    reader.find("#compare").send_keys("Kolkata")
    reader.find(".compare button").click()
    wait_for(lambda: lengths(reader, ".line.other") == [25], "the other city's line")
    assert reader.driver.current_url.endswith("?compare=Kolkata")
    assert "Kolkata" in reader.text(".legend")
    names = reader.run("return [...document.querySelector('#compare').list.options].map(e => e.value)")
    assert names == ["Chennai", "Delhi", "Kolkata"]
    # Whatever the case of its letters; and a name of no city is not an outage.
    for name, count, message in (("Kolkate", 0, "No city named “Kolkate”"), ("koLKata", 1, "")):
        reader.find("#compare").clear()
        reader.find("#compare").send_keys(name)
        reader.find(".compare button").click()
        wait_for(lambda: len(reader.all(".line.other")) == count, f"what there is of {name}")
        assert reader.text("figure [role=alert]") == message and reader.text("h1") == "Delhi"
        assert not reader.find(".banner").is_displayed() and reader.all(".feed.live")
        assert reader.find("#compare").get_attribute("value") == ("Kolkata" if count else name)
    assert all("400" in error for error in reader.errors())
    # The range stays.
    assert delhi.exporter.get("/city/Delhi?compare=Nowhere").status == 400
    answer = delhi.exporter.get("/city/Delhi?range=3h&compare=Kolkata").body.decode()
    assert 'href="?range=24h&amp;compare=Kolkata"' in answer or 'range-24h' not in answer
    for query in ("range=2h", "range=3h&from=1", "compare=a&compare=b"):
        assert delhi.exporter.get(f"/city/Delhi?{query}").status == 400
