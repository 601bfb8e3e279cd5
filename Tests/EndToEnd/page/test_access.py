"""Accessibility and layout: WCAG 2.2 AA, screens of all sizes, light and dark, print."""

import pytest

PAGES = {
    "list": "/",
    "search": "/?search=zzz",
    "wall": "/?kiosk",
    "city": "/city/Delhi",
    "bars": "/city/Delhi?chart=bars",
    "about": "/about",
}
SCREENS = {"phone": (320, 640), "laptop": (1280, 900), "wall": (3840, 2160)}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_every_page_is_accessible_and_fits_the_screen(air, browser, page, scheme):
    # Dark mode changes only colours, so one size is enough.
    for width, height in SCREENS.values() if scheme == "light" else [SCREENS["laptop"]]:
        browser.show(width, height, scheme)
        browser.open(air.address + PAGES[page])
        assert browser.accessibility_violations() == [], f"{width} px"
        assert browser.small_targets() == [], f"{width} px"
        assert browser.misfits() == [], f"{width} px"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_with_stale_data_is_accessible(air, browser, scheme):
    air.feed.stop()
    air.exporter.wait_for_sample("airquality_exporter_feed_connected", 0)
    browser.show(scheme=scheme)
    browser.open(air.address)
    assert browser.find(".banner").is_displayed() and browser.find(".retry button").is_displayed()
    assert browser.accessibility_violations() == []


def test_the_list_kiosk_and_city_pages_fit_every_width(air, browser):
    for page in ("/", "/?kiosk", "/city/Delhi"):
        browser.open(air.address + page)
        for width in range(320, 1400, 40):
            browser.show(width)
            assert browser.misfits() == [], f"{page}, {width} px"


def test_the_page_is_dark_if_the_browser_prefers_dark(air, browser):
    def brightness() -> float:
        color = browser.run("return getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in color[4:-1].split(",")) / 3

    browser.open(air.address)
    light = brightness()
    browser.show(scheme="dark")
    assert brightness() < 40 < 220 < light


def test_no_category_is_conveyed_by_colour_alone(air, browser):
    browser.open(air.address)
    for row in browser.all("li.city"):
        word = row.find_element("css selector", ".word").text
        assert word in ("Good", "Satisfactory", "Moderate", "Poor", "Very Poor", "Severe")
    browser.show(width=320)
    # On a phone the labels of the counts are hidden, but screen readers still get them.
    nodes = browser.command("Accessibility.getFullAXTree")["nodes"]
    links = [node for node in nodes if node.get("role", {}).get("value") == "link"]
    texts = [link.get("name", {}).get("value") or "" for link in links]
    assert any(text.endswith("Very Poor") for text in texts), texts


def test_the_kiosk_page_has_large_numbers_no_controls_and_no_scrolling(air, reader):
    reader.show(1920, 1080)
    reader.open(air.address + "/?kiosk")
    assert not reader.all("#search") and reader.find("footer").is_displayed()
    assert not [link for link in reader.all("footer a") if link.is_displayed()]
    size = reader.run(
        "return parseFloat(getComputedStyle(document.querySelector('li .index')).fontSize)"
    )
    assert size >= 32
    assert reader.run("return document.documentElement.scrollHeight <= innerHeight")


@pytest.mark.parametrize("count", [1, 2, 12, 30, 60])
@pytest.mark.parametrize("scale", ["us", "india"])
def test_kiosk_cards_are_legible_from_afar_and_nothing_overlaps(start_air, browser, count, scale):
    """Everything fits the screen without overlaps or broken words, and all text is large."""
    names = ["Thiruvananthapuram", "Navi Mumbai", "Delhi"]
    names += [f"Town {number}" for number in range(57)]
    air = start_air("--aqi.scale", scale)
    air.send({name: 20 for name in names[:count]}, age=2 * 86_400)
    air.send({name: 120 + number for number, name in enumerate(names[:count])})
    air.exporter.wait_for_sample("airquality_exporter_feed_readings_total", 2 * count)
    for screen in ((1920, 1080), (3840, 2160)):
        browser.show(*screen)
        browser.open(air.address + "/?kiosk")
        check_kiosk(browser, count, screen, scale)


def check_kiosk(browser, count: int, screen: tuple[int, int], scale: str) -> None:
    assert len(browser.all("li.city")) == count
    assert browser.run("return document.documentElement.scrollHeight <= innerHeight")
    cut = browser.run(
        """
        const box = e => e.getBoundingClientRect();
        return [...document.querySelectorAll("li.city")].flatMap(card => {
          const parts = [".name bdi", ".index", ".disc", ".word", ".change"]
            .map(part => card.querySelector(part))
            .filter(part => part?.checkVisibility());
          const overlaps = (a, b) => box(a).left < box(b).right - 1
            && box(b).left < box(a).right - 1
            && box(a).top < box(b).bottom - 1 && box(b).top < box(a).bottom - 1;
          const outside = parts.filter(part => box(part).right > box(card).right + 1
            || box(part).bottom > box(card).bottom + 1
            || part.scrollWidth > part.clientWidth + 1 && part.matches("bdi"));
          const pairs = parts.flatMap((a, at) => parts.slice(at + 1)
            .filter(b => overlaps(a, b)).map(b => [a.className, b.className]));
          return [...outside.map(part => part.outerHTML), ...pairs];
        });
        """
    )
    assert cut == []
    sizes = browser.run(
        """
        return ["li .index", "li .name bdi", "li .word"].map(
          part => Math.min(...[...document.querySelectorAll(part)]
            .map(e => parseFloat(getComputedStyle(e).fontSize))));
        """
    )
    # On a 55-inch screen of 1080 lines, letters of 17 px are 8 mm high: more than enough to be read
    # at five metres.
    assert sizes[0] >= screen[1] / 32 and min(sizes[1:]) >= screen[1] / 64, sizes
    if count < 13:
        assert min(sizes[1:3]) >= screen[1] / 45, sizes
    # The face and the arrow of the last change, unless a long word needs their space.
    if scale == "india":
        faces, arrows = browser.run(
            """
            return [
              [...document.querySelectorAll("li .disc")].map(e => e.getBoundingClientRect().width),
              [...document.querySelectorAll("li .worse")]
                .map(e => parseFloat(getComputedStyle(e, "::before").fontSize)),
            ];
            """
        )
        assert len(faces) == count and min(faces) >= 20, faces
        assert min(arrows) >= 12, arrows
    assert len(browser.all("li .worse")) == count
    assert browser.text(".now") and browser.find(".now").is_displayed()


@pytest.mark.parametrize("screen", [(390, 844), (800, 600), (927, 900)])
def test_kiosk_cards_on_narrow_screens_show_a_legible_index_and_name(start_air, browser, screen):
    air = start_air(cities={f"Town {number}": 60 + number for number in range(17)})
    browser.show(*screen)
    browser.open(air.address + "/?kiosk")
    sizes = browser.run(
        "return [...document.querySelectorAll('li .index, li .name')]"
        ".map(e => e.getBoundingClientRect().height)"
    )
    assert len(sizes) == 34 and min(sizes) >= 16, sizes


@pytest.mark.parametrize("scale", ["us", "eu"])
def test_summary_counts_stay_on_one_row_and_band_names_are_not_cut_off(start_air, browser, scale):
    """The counts on a laptop, the names of the bands on a phone."""
    air = start_air("--aqi.scale", scale)
    for age in (60, 0):
        air.send({f"Town {number}": 10 + 50 * number for number in range(8)}, age=age)
    air.exporter.wait_for_sample("airquality_exporter_feed_readings_total", 16)
    browser.show(1280)
    browser.open(air.address)
    tops = browser.run(
        "return [...document.querySelectorAll('.summary li')]"
        ".map(e => e.getBoundingClientRect().top)"
    )
    assert len(set(tops)) == 1
    browser.show(390)
    browser.open(air.address + "/city/Town%201")
    assert browser.run(
        "return [...document.querySelectorAll('.band-name p')]"
        ".every(e => e.scrollWidth <= e.clientWidth)"
    )


def test_the_name_of_a_city_stays_on_one_line(start_air, browser):
    air = start_air(cities={"Thiruvananthapuram": 300})
    lines = "return document.querySelector(arguments[0]).getClientRects().length"
    for width in (390, 1280, 1920):
        browser.show(width)
        for path, name in (("/", "li .name bdi"), ("/city/Thiruvananthapuram", "h1 bdi")):
            browser.open(air.address + path)
            assert browser.run(lines, name) == 1, width


@pytest.mark.parametrize("width,columns", [(390, 1), (1280, 3), (1920, 4)])
def test_the_number_of_columns_follows_the_width_of_the_screen(start_air, browser, width, columns):
    air = start_air(cities={f"Town {number}": 60 + number for number in range(12)})
    browser.show(width)
    browser.open(air.address)
    lefts = browser.run(
        "return [...document.querySelectorAll('li.city')].map(e => e.getBoundingClientRect().left)"
    )
    assert len(set(lefts)) == columns
    browser.open(air.address + "/city/Town%201")
    current, chart = browser.run(
        "return ['.current', '.chart']"
        ".map(s => document.querySelector(s).getBoundingClientRect().left)"
    )
    assert (current < chart) == (width > 1000)


def test_the_page_has_a_description_for_search_engines_and_icons(air, browser):
    browser.open(air.address)
    assert browser.find("meta[name=description]").get_attribute("content")
    path = "return new URL(document.querySelector(arguments[0]).href).pathname"
    for selector in ("link[rel=icon]", "link[rel=apple-touch-icon]"):
        icon = air.exporter.get(browser.run(path, selector))
        assert icon.status == 200 and icon.headers["Content-Type"].startswith("image/")
    icon = air.exporter.get("/favicon.ico")
    assert icon.body[:4] == b"\0\0\1\0" and icon.headers["X-Content-Type-Options"] == "nosniff"


def test_the_page_prints_without_its_controls_on_a_white_background(air, browser):
    browser.show(media="print")
    browser.open(air.address)
    assert not browser.find("#search").is_displayed() and not browser.find(".order").is_displayed()
    assert len(browser.all("li.city")) == 6
    background = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"
    assert len(browser.command("Page.printToPDF")["data"]) > 10_000


def test_violations_of_the_content_security_policy_are_reported(air, browser):
    """All other tests rely on this to notice violations."""
    browser.open(air.address)
    element = """<p onclick="1" style="color:red">x</p>"""
    browser.run("document.body.insertAdjacentHTML('beforeend', arguments[0])", element)
    assert any("Content Security Policy" in error for error in browser.errors())
