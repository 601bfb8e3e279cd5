"""A feed that says everything, and an Alertmanager with somebody who listens to it."""

import contextlib
import http.server
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import yaml

from grafana.dashboards import ROOT
from support.peers import WebSocketFeed
from support.programs import Program
from support.waiting import wait_for

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


def quick_rules(folder: Path) -> list[str]:
    """A copy of the rules, evaluated each second, in which a minute of waiting is a second."""
    content = yaml.safe_load((ROOT / "grafana/rules/airquality.alerts.yaml").read_text())
    for group in content["groups"]:
        group["interval"] = "1s"
        for rule in group["rules"]:
            # Which a busy machine makes true before its first scrape.
            if rule["alert"] == "AirQualityExporterMissing":
                continue
            for name in {"for", "keep_firing_for"} & rule.keys():
                rule[name] = re.sub(r"(\d+)m", r"\1s", rule[name])
    copy = folder / "rules.yaml"
    copy.write_text(yaml.safe_dump(content, allow_unicode=True))
    return [str(copy)]


class Listener:
    """Keeps what Alertmanager sends: receiver, status and labels of each alert."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str, dict[str, str]]] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                for alert in content["alerts"]:
                    outer.heard.append((content["receiver"], alert["status"], alert["labels"]))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def named(self, alert: str) -> list[tuple[str, str, str, str]]:
        """Receiver, status, severity and job of each notification, resent ones once."""
        said = [
            (receiver, status, labels["severity"], labels["job"])
            for receiver, status, labels in self.heard
            if labels["alertname"] == f"AirQuality{alert}"
        ]
        return list(dict.fromkeys(said))


class Alertmanager(Program):
    """With the example of docker/prometheus, whose receivers are all the listener."""

    def __init__(self, folder: Path, listener: Listener):
        content = yaml.safe_load((ROOT / "docker/prometheus/alertmanager.yml").read_text())
        content["route"] |= {"group_wait": "1s", "group_interval": "2s"}
        for receiver in content["receivers"]:
            receiver["webhook_configs"] = [{"url": listener.url}]
        file = folder / "alertmanager.yml"
        file.write_text(yaml.safe_dump(content))
        super().__init__(
            [
                "prometheus-alertmanager",
                f"--config.file={file}",
                f"--storage.path={folder / 'alertmanager'}",
                "--web.listen-address=127.0.0.1:0",
                "--cluster.listen-address=",
            ]
        )
        self.address = wait_for(self._find_address, "Alertmanager's address", 60)

    def _find_address(self) -> str | None:
        found = (
            re.search(r'msg="Listening on" address=(127\.0\.0\.1:\d+)', line)
            for line in self.errors
        )
        return next((match[1] for match in found if match), None)
