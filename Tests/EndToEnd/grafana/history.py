"""What the Infinity data source makes of `/history.json`: select, type, and turn long rows into wide series."""

import re
from datetime import datetime

from grafana.complaints import Complaints
from grafana.dashboards import panels, variables
from grafana.stack import CITIES, POINTS, Stack

Row = dict[str, object]


def convert(value: object, kind: str) -> object:
    """A JSON value under one of the plugin's column types; null where the plugin finds nothing of that type."""
    if kind == "timestamp":
        good = isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", value)
        return datetime.fromisoformat(value).timestamp() if good else None
    if kind == "timestamp_epoch":
        return float(value) / 1000 if isinstance(value, (int, float)) else None
    if kind == "number":
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    return value if isinstance(value, str) else None


def rows(document: dict, query: dict) -> list[Row]:
    points = document.get(query["root_selector"])
    if not isinstance(points, list):
        return []
    return [{c["text"]: convert(point.get(c["selector"]), c["type"]) for c in query["columns"]} for point in points]


def long_to_wide(long: list[Row], query: dict) -> dict[tuple, list[tuple[float, float]]]:
    """Labels → points. ValueError where the plugin would give up and leave the rows long."""
    kinds = {column["text"]: column["type"] for column in query["columns"]}
    times = [name for name, kind in kinds.items() if kind.startswith("timestamp")]
    numbers = [name for name, kind in kinds.items() if kind == "number"]
    labels = [name for name, kind in kinds.items() if kind == "string"]
    if len(times) != 1 or not numbers or not labels:
        raise ValueError(f"needs one time, numbers and strings, not {kinds}")
    series: dict[tuple, list[tuple[float, float]]] = {}
    before = 0.0
    for row in long:
        time = row[times[0]]
        if not isinstance(time, float):
            raise ValueError("a row without a time")
        if time < before:
            raise ValueError("series unsorted")
        before = time
        for number in numbers:
            key = (number, *(row[label] for label in labels))
            series.setdefault(key, []).append((time, row[number]))
    return series


def check_document(running: Stack) -> Complaints:
    complaints = Complaints()
    document = running.exporter.history()
    times = [(point["time_ms"], point["city"].encode()) for point in document["points"]]
    complaints.that(times == sorted(times), "history document: not sorted by time, then city")
    complaints.that(document["capacity"] == POINTS, f"history document: capacity {document['capacity']}")
    return complaints


def check_history(name: str, dashboards: dict[str, dict], running: Stack) -> Complaints:
    complaints, dashboard = Complaints(), dashboards[name]
    for variable in variables(dashboard):
        if variable["type"] == "query":
            query = variable["query"]["infinityQuery"]
            document = running.exporter.history(**parameters(query, ""))
            found = {row[query["columns"][0]["text"]] for row in rows(document, query)}
            complaints.that(found == set(CITIES), f"{name}: $city offers {found}")
    for panel in panels(dashboard):
        for query in panel["targets"]:
            per_city = any("$" in each["value"] for each in query["url_options"]["params"])
            for chosen in [[city] for city in CITIES] if per_city else [CITIES]:
                where = f"{name}: {panel['title']!r} {query['refId']} for {chosen[0] if per_city else 'all cities'}"
                check_panel(complaints, where, query, chosen, running)
    return complaints


def parameters(query: dict, city: str) -> dict[str, str]:
    return {each["key"]: each["value"].replace("${city}", city) for each in query["url_options"]["params"]}


def check_panel(complaints: Complaints, where: str, query: dict, chosen: list[str], running: Stack) -> None:
    long = rows(running.exporter.history(**parameters(query, chosen[0])), query)
    complaints.that(len(long) == POINTS * len(chosen), f"{where}: {len(long)} points of {len(chosen)} cities")
    empty = [row for row in long if None in row.values()]
    complaints.that(not empty, f"{where}: a column finds nothing in {empty[:1]}")
    if query["format"] != "timeseries":
        return
    try:
        series = long_to_wide(long, query)
    except ValueError as error:
        complaints.that(False, f"{where}: stays long: {error}")
        return
    complaints.that({key[-1] for key in series} == set(chosen), f"{where}: series {sorted(map(str, series))}")
    complaints.that(len(series) == len(chosen), f"{where}: {len(series)} series for {len(chosen)} cities")
    for key, points in series.items():
        complaints.that(len(points) == POINTS, f"{where}: {key} has {len(points)} points")
        complaints.that(len({time for time, _ in points}) == len(points), f"{where}: {key} has two points at one time")
