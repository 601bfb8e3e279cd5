"""The dashboards of the American and the European scale, made from those of the Indian one and the exporter's tables."""

import html
import re

from grafana.scale import Category

#: Sentences about the scale itself.
SENTENCES = {
    "the Indian national index is defined over": {
        "us": "the American index of fine particles is defined over", "eu": "the daily European index is defined over",
    },
    "the Indian national index": {"us": "the US Air Quality Index", "eu": "the European Air Quality Index"},
    "the Indian national scale": {"us": "the scale of the US EPA", "eu": "the European scale"},
    "the Indian National Air Quality Index (CPCB, 2014)": {
        "us": "the US Air Quality Index (EPA-454/B-24-002, 2024)", "eu": "the European Air Quality Index as a number (EEA)",
    },
}  # fmt: skip
#: The tile that says which scale the exporter uses: code of the scale → its words where it is the dashboards' own, or not.
TILE = {
    "india": ("1", "India (CPCB)", "⚠ India: other dashboards"),
    "us": ("2", "US EPA", "⚠ US EPA: other dashboards"),
    "eu": ("3", "EU (EAQI)", "⚠ EU: other dashboards"),
}


def translated(value: object, scale: str, old: list[Category], new: list[Category], hints: dict[str, str]) -> object:
    """A part of a dashboard in the words, colours and boundaries of another scale."""

    def again(part: object) -> object:
        return translated(part, scale, old, new, hints)

    if isinstance(value, list):
        steps = [(each.get("value"), each.get("color")) for each in value if isinstance(each, dict)]
        if steps == [(category.lower or None, category.color) for category in old]:
            return [{"value": category.lower or None, "color": category.color} for category in new]
        return [again(each) for each in value]
    if isinstance(value, dict):
        if value.keys() == {"1", "2", "3"} and value["1"].get("text", "").startswith("India"):
            words = [(code, own if name == scale else other, name) for name, (code, own, other) in TILE.items()]
            return {
                code: {"index": index, "text": text, "color": "text" if name == scale else "red"}
                for index, (code, text, name) in enumerate(words)
            }
        return {again(key): again(member) for key, member in value.items()}
    if not isinstance(value, str):
        return value
    for sentence, other in SENTENCES.items():
        value = value.replace(sentence, other[scale])
    rows = dict(zip([each.words for each in old], zip(new, [*new[1:], None], strict=True), strict=True))

    def row(match: re.Match[str]) -> str:
        category, following = rows[match[1]]
        reach = f"{category.lower:g} to below {following.lower:g}" if following else f"{category.lower:g} and above"
        return f"| {reach} | {match[1]} |"

    value = re.sub(r"\| \d+ (?:to below \d+|and above) \| ([^|]+) \|", row, value)
    table = {before.words: after.words for before, after in zip(old, new, strict=True)}
    table |= {before.color: after.color for before, after in zip(old, new, strict=True)} | hints
    parts = sorted(table, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, parts)), lambda match: table[match[0]], value)


def hints_of(dashboards: dict[str, dict]) -> list[str]:
    """The hints of the Indian scale: the rows of the table in words."""
    text = next(
        panel["options"]["content"]
        for row in dashboards["aqi-city"]["panels"]
        for panel in [row, *row.get("panels", [])]
        if panel["type"] == "text"
    )
    return re.findall(r"^\| \d+ .+? \| .+? \| (.+?) \|$", text, re.MULTILINE)


def health_words(about: str) -> list[str]:
    """What each category means for health, from the exporter's page about itself."""
    return [html.unescape(words) for words in re.findall(r'<td class="number">\d+</td><td>(.+?)</td></tr>', about)]


def made(
    name: str, dashboards: dict[str, dict], scale: str, tables: dict[str, list[Category]], words: dict[str, list[str]]
) -> dict:
    hints = dict(zip(hints_of(dashboards), words[scale], strict=True))
    return translated(dashboards[name], scale, tables["india"], tables[scale], hints)
