"""A feed that says everything."""

import contextlib
import json
import threading
from collections.abc import Iterator

from support.peers import WebSocketFeed

# Everything that breaks a query, a link or a label when somebody forgets to escape it. A back-tick
# is not among them: it ends the raw string that the dashboards put the name into, see the README.
CITIES = [
    "Delhi",
    "St. John's",
    "City (North)",
    'The "Quoted" Town',
    "Back\\slash",
    "A&B/C?d=e#f+g",
    "50% [x]{y}",
    "$city ${city}",
    "a|b^c$.*",
    "São Paulo",
    "新德里",
    "{{city}}, <b>bold</b>",
]
# A city goes up and down between two of these: every category occurs, and every city changes.
LEVELS = [25.5, 75.25, 150.0, 250.5, 350.75, 450.0]
POLLUTANTS = ["pm2_5", "pm10", "no2", "so2", "o3", "co", "nh3"]


def message(turn: int) -> str:
    if turn % 10 == 9:
        return "not JSON"
    elements = [
        {
            "city": city,
            "aqi": LEVELS[(place + (turn // 6 + place) % 2) % len(LEVELS)],
            "subindices": {
                name: 20 + (turn // 6 + number) % 7 for number, name in enumerate(POLLUTANTS)
            },
            "place": {"country": "IN", "latitude": 10 + place, "longitude": 75.5 + place},
        }
        for place, city in enumerate(CITIES)
    ]
    return json.dumps([*elements, {"city": "Nowhere", "aqi": None}])


def name_source(connection, request, response) -> None:
    response.headers["Air-Quality-Source"] = 'open-meteo; kind=model; license="CC BY 4.0"'


@contextlib.contextmanager
def talking_feed(interval: float = 0.2) -> Iterator[WebSocketFeed]:
    server = WebSocketFeed(process_response=name_source)
    stop = threading.Event()

    def talk() -> None:
        turn = 0
        while not stop.wait(interval):
            server.send(message(turn))
            turn += 1

    thread = threading.Thread(target=talk)
    thread.start()
    try:
        yield server
    finally:
        stop.set()
        thread.join()
        server.stop()
