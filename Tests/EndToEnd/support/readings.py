"""What recorded messages say of each city, found without the recipes' programs, and what a page of
metrics shows of it."""

import datetime
import json
from collections.abc import Callable, Iterable

from support import metrics
from support.exposition import Exposition

NAMES = {
    "city_name": "city", "cityName": "city", "stationName": "city",
    "aqi_value": "aqi", "airQualityIndex": "aqi", "pm25": "pm2_5",
    "timestamp": "time", "measuredAt": "time", "recorded_at": "time", "last_updated": "time",
    "lat": "latitude", "lon": "longitude", "lng": "longitude", "countryCode": "country",
}
TEXTS = "city", "country"
SHOWN = *TEXTS, "aqi", "time", "pm2_5", "pm10", "no2", "latitude", "longitude"


def moment(value: str | list[int], zone: str) -> float:
    if isinstance(value, list):
        return moment(datetime.datetime(*value[:6]).isoformat(), zone)
    time = datetime.datetime.fromisoformat(value)
    return (time if time.tzinfo else datetime.datetime.fromisoformat(value + zone)).timestamp()


def known(element: dict, zone: str) -> dict:
    """The members by one name each; without those that have no value, as NaN."""
    element = element | element.get("place", {}) | element.get("pollutants", {})
    members = {NAMES.get(name, name): value for name, value in element.items()}
    values = {name: members[name] for name in SHOWN if members.get(name) is not None}
    for name, value in values.items():
        if name not in TEXTS:
            values[name] = moment(value, zone) if name == "time" else float(value)
    return {name: value for name, value in values.items() if value == value}


def stations(elements: list[dict]) -> list[dict]:
    """Spring's elements, which are named after the station."""
    return [
        {"city": each["station"]["stationName"], "country": each["station"]["countryCode"]}
        | each["station"]["location"] | each["pollutants"]
        | {"aqi": each["airQualityIndex"], "time": each["measuredAt"]}
        for each in elements
    ]


def home_assistant(text: str) -> list[dict]:
    state = json.loads(text).get("event", {}).get("data", {}).get("new_state")
    if not state:
        return []
    attributes = state["attributes"]
    kind, name = attributes["device_class"], attributes["friendly_name"]
    if kind == "pm25":
        return [{"city": name.removesuffix(" PM2.5"), "pm2_5": state["state"]}]
    element = {"city": name.removesuffix(" AQI"), "aqi": state["state"]} | attributes
    return [element | {"time": state["last_updated"]}] if kind == "aqi" else []


def with_index(element: dict) -> dict:
    """CPCB's index of PM2.5 from 60 to 90 µg/m³, where the server has none."""
    if element["aqi"] == element["aqi"]:
        return element
    assert 60 <= element["pm25"] <= 90
    return element | {"aqi": round(101 + (element["pm25"] - 61) * 99 / 29)}


def array(elements: dict | list[dict]) -> list[dict]:
    return [elements] if isinstance(elements, dict) else elements


def stomp(text: str) -> dict | list[dict]:
    return json.loads(text.split("\n\n", 1)[1].rstrip("\0\n")) if text[:7] == "MESSAGE" else []


def sockjs(text: str) -> list[dict]:
    return [each for part in json.loads(text[1:]) for each in json.loads(part)] if text[1:] else []


def pusher(text: str) -> list[dict]:
    message = json.loads(text)
    return json.loads(message["data"]) if message["event"] == "readings" else []


def csv(text: str) -> list[dict]:
    city, aqi, pm25, time = text.split(",")
    return [{"city": city, "aqi": aqi, "pm25": pm25, "time": time}] if city != "city" else []


def lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


INDIA = "+05:30"
#: By recording: the elements in a message, and the zone of times that have none.
ELEMENTS: dict[str, tuple[Callable[[str], Iterable[dict]], str]] = {
    "homeassistant-events": (home_assistant, ""),
    "socketio": (lambda text: json.loads(text[2:])[1] if text[:7] == '42["aqi' else [], ""),
    "graphql-transport-ws": (
        lambda text: json.loads(text).get("payload", {}).get("data", {}).get("readings", []), ""
    ),
    "centrifugo": (
        lambda text: [each["push"]["pub"]["data"] for each in lines(text) if "push" in each], ""
    ),
    "sockudo": (pusher, ""),
    "spring-stomp": (lambda text: stations(stomp(text)), INDIA),
    "rabbitmq-stomp": (lambda text: array(stomp(text)), ""),
    "spring-sockjs-plain": (lambda text: stations(sockjs(text)), INDIA),
    "spring-plain": (lambda text: stations(json.loads(text)), INDIA),
    "spring-own-mapper": (lambda text: stations(json.loads(text)), INDIA),
    "vertx-bridge": (lambda text: array(json.loads(text)["body"]), ""),
    "channels": (lambda text: json.loads(text)["readings"], ""),
    "fastapi-nan": (lambda text: map(with_index, json.loads(text)), "Z"),
    "fastapi-camel": (lambda text: [json.loads(text)], "Z"),
    "nodered-message": (lambda text: [json.loads(text)["payload"]], ""),
    "websocketd-csv": (csv, ""),
    "websocketd-json": (lambda text: [json.loads(text)], ""),
    "nats": (lines, ""),
}


def said(messages: Iterable[str | bytes], recording: str) -> dict[str, dict]:
    """The newest values of each city; what an element does not have stays."""
    elements, zone = ELEMENTS[recording]
    cities: dict[str, dict] = {}
    for message in messages:
        for element in elements(message if isinstance(message, str) else message.decode()):
            values = known(element, zone)
            cities.setdefault(values.pop("city"), {}).update(values)
    return cities


def shown(page: Exposition) -> dict[str, dict]:
    """The same of a page of metrics."""
    cities = {city: {"aqi": value} for city, value in page.by(metrics.INDEX, "city").items()}
    for city, time in page.by(metrics.UPDATED, "city").items():
        cities[city]["time"] = time
    for labels, value in page.samples(metrics.CONCENTRATION):
        cities[labels["city"]][labels["pollutant"]] = value
    for labels, _ in page.samples(metrics.PLACE):
        for name in "country", "latitude", "longitude":
            if text := labels[name]:
                cities[labels["city"]][name] = text if name in TEXTS else float(text)
    return cities
