"""While readings change, every painted frame shows consistent facts about each city."""

import random

import pytest

from support.waiting import wait_for

CATEGORIES = [(401, 6), (301, 5), (201, 4), (101, 3), (51, 2), (0, 1)]
NAMES = {1: "Good", 2: "Satisfactory", 3: "Moderate", 4: "Poor", 5: "Very Poor", 6: "Severe"}
BASES = [20, 60, 120, 220, 320, 420]
CITIES = [f"Town {number:02}" for number in range(40)]

# Records what the page shows in each frame that the browser paints.
WATCH = """
window.frames_seen = 0;
window.seen = {};
const look = () => {
  window.frames_seen += 1;
  for (const city of document.querySelectorAll("li.city, .current")) {
    const part = selector => city.querySelector(selector);
    const colour = getComputedStyle(part(".index")).backgroundColor;
    const said = [
      part(".index").textContent, part(".word").textContent, colour,
      getComputedStyle(part(".disc")).backgroundColor, part("use").getAttribute("href"),
      city.dataset.category, part(".health")?.textContent ?? "",
    ].join("|");
    window.seen[said] = (window.seen[said] ?? 0) + 1;
  }
  requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


def category(index: int) -> int:
    return next(number for bound, number in CATEGORIES if index >= bound)


@pytest.mark.parametrize("path,rounds", [("/", 25), ("/?kiosk", 4), ("/city/Town%2000", 7)])
def test_every_frame_shows_consistent_facts_about_each_city(start_air, browser, path, rounds):
    """Each round changes all 40 cities: 1,000 changes in the list altogether."""
    air = start_air()
    chance = random.Random(8)
    air.send({name: 10 for name in CITIES})
    air.wait_for_cities(len(CITIES))
    colours, advice = scale(air)
    browser.open(air.address + path)
    browser.wait_for("body[data-live]")
    browser.run(WATCH)
    for turn in range(rounds):
        # Each city gets another category than in the previous round.
        levels = [
            BASES[(turn + 1 + place) % 6] + chance.randrange(30) for place in range(len(CITIES))
        ]
        air.send(dict(zip(CITIES, levels)))
        shown = {str(level) for level in (levels[:1] if path.startswith("/city") else levels)}
        wait_for(lambda: set(browser.run(INDICES)) == shown, f"round {turn}")
    seen = browser.run("return window.seen")
    assert browser.run("return window.frames_seen") > rounds
    assert len({line.split("|")[5] for line in seen}) == 6, "all categories were seen"
    for line in seen:
        index, word, colour, face_colour, face, number, health = line.split("|")
        expected = category(int(index))
        assert int(number) == expected and face == f"#face-{expected}", line
        assert word == NAMES[expected], line
        assert colour == face_colour == colours[expected], line
        assert health == (advice[expected] if path.startswith("/city") else ""), line


INDICES = """
return [...document.querySelectorAll("li.city .index, .current .index")].map(e => e.textContent);
"""


def scale(air) -> tuple[dict[int, str], dict[int, str]]:
    """The colours of the categories in the notation of browsers, and their health advice."""
    history = air.exporter.get("/history.json").json
    colours = {}
    for each in history["scale"]["categories"]:
        red, green, blue = bytes.fromhex(each["color"][1:])
        colours[each["category"]] = f"rgb({red}, {green}, {blue})"
    about = air.exporter.get("/about").text
    advice = {}
    for number in NAMES:
        row = about.split(f'class="word c{number}"')[1].split("</tr>")[0]
        advice[number] = row.split("<td>")[1].split("</td>")[0]
    return colours, advice
