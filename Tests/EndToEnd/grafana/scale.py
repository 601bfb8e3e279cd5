"""The scale has one source, the exporter: names, boundaries, colours and faces in the JSON are compared with it."""

import re
from dataclasses import dataclass

from grafana.complaints import Complaints
from grafana.dashboards import canonical, field_settings, mappings, panels
from grafana.structure import LINE_COLORS
from support.exposition import Exposition


@dataclass(frozen=True)
class Category:
    number: int
    name: str
    lower: float
    color: str
    face: str

    @property
    def words(self) -> str:
        return f"{self.face} {self.name}"


def categories(page: Exposition) -> list[Category]:
    found = [labels for labels, _ in page.samples("airquality_category_info")]
    table = [
        Category(int(each["category"]), each["name"], float(each["from"]), each["color"], each["face"])
        for each in found
    ]
    return sorted(table, key=lambda each: each.number)


def check_scale(dashboards: dict[str, dict], table: list[Category]) -> Complaints:
    complaints = Complaints()
    complaints.that([each.number for each in table] == [1, 2, 3, 4, 5, 6], f"the exporter's scale has categories {table}")
    palette = {each.color for each in table} | LINE_COLORS
    words = {str(each.number): (each.words, each.color) for each in table}
    hints: set[tuple[str, ...]] = set()
    uses = 0
    for name, dashboard in dashboards.items():
        for panel in panels(dashboard):
            where = f"{name}: {panel.get('title')!r}"
            odd = set(re.findall(r'"#[0-9A-Fa-f]{6}"', canonical(panel))) - {f'"{color}"' for color in palette}
            complaints.that(not odd, f"{where}: {sorted(odd)} is no colour of the scale")
            for mapping in mappings(panel):
                options = mapping.get("options", {})
                # Seven pollutants are no categories.
                if mapping.get("type") != "value" or not {"4", "5", "6"} & set(options) or "7" in options:
                    continue
                if any(str(result.get("color")).startswith("#") for result in options.values()):
                    uses += 1
                    found = {number: (result.get("text"), result.get("color")) for number, result in options.items()}
                    complaints.that(found == words, f"{where}: maps {found}, the exporter says {words}")
                else:
                    hints.add(tuple(options[number].get("text", "") for number in sorted(options)))
                    complaints.that(set(options) == set(words), f"{where}: hints for {sorted(options)} only")
            for _, setting, value in field_settings(panel):
                if setting == "thresholds" and any(step["color"].startswith("#") for step in value["steps"]):
                    uses += 1
                    found = [(step["value"] or 0, step["color"]) for step in value["steps"]]
                    wanted = [(each.lower, each.color) for each in table]
                    complaints.that(found == wanted, f"{where}: bands {found}, the exporter says {wanted}")
            check_series(complaints, where, panel, table)
            if panel.get("type") == "text":
                check_words(complaints, where, panel, table, hints)
    complaints.that(uses >= 10, f"only {uses} tables of the scale found: this check has lost what it is for")
    complaints.that(len(hints) == 1, f"{len(hints)} different sets of health hints")
    return complaints


def check_series(complaints: Complaints, where: str, panel: dict, table: list[Category]) -> None:
    """One series for each category: the n-th query is about category n, and has its words and its colour."""
    legends = {target.get("refId"): target.get("legendFormat", "") for target in panel.get("targets", [])}
    found: dict[str, dict[str, str]] = {}
    for override in panel.get("fieldConfig", {}).get("overrides", []):
        properties = {one["id"]: one.get("value") for one in override["properties"]}
        color = (properties.get("color") or {}).get("fixedColor", "")
        if color in {each.color for each in table}:
            found[str(override["matcher"]["options"])] = {
                "color": color,
                "text": str(properties.get("displayName", "")),
            }
    if not found:
        return
    complaints.that(len(found) == len(table), f"{where}: {len(found)} of {len(table)} categories have a series")
    for each, target in zip(table, panel["targets"], strict=False):
        ref, expression = target["refId"], target["expr"]
        own = found.get(legends[ref]) or found.get(f"Value #{ref}") or found.get(ref) or {}
        text = own.get("text") or legends[ref]
        complaints.that(text.endswith(each.words), f"{where} {ref}: called {text!r}, expected {each.words!r}")
        complaints.that(own.get("color") == each.color, f"{where} {ref}: colour {own.get('color')}, expected {each.color}")
        asked = re.search(r'== bool (\d)|category="(\d)"', expression)
        number = asked and int(asked.group(1) or asked.group(2))
        complaints.that(number == each.number, f"{where} {ref}: asks for category {number}, shows it as {each.words}")


def check_words(complaints: Complaints, where: str, panel: dict, table: list[Category], hints: set[tuple[str, ...]]) -> None:
    lines = re.findall(
        r"^\| (\d+) (?:to below (\d+)|and above) \| (.+?) \| (.+?) \|$", panel["options"]["content"], re.MULTILINE
    )
    found = [(float(lower), float(upper) if upper else None, words) for lower, upper, words, _ in lines]
    uppers = [each.lower for each in table[1:]] + [None]
    wanted = [(each.lower, upper, each.words) for each, upper in zip(table, uppers, strict=True)]
    complaints.that(found == wanted, f"{where}: says {found}, the exporter says {wanted}")
    hints.add(tuple(hint for _, _, _, hint in lines))
