"""A local HTTP(S) server that responds as the sources of air quality data are documented to, and as
they do when something is wrong.

Every document here was written from documentation; recorded ones are in test_recordings.py:

- Open-Meteo: open-meteo.com/en/docs/air-quality-api ("JSON Return Object", "Errors"; several places
  are an array), status 429 from open-meteo/open-meteo issue 439.
- WAQI: aqicn.org/json-api/doc ("Geolocalized feed", "Return value"); a station without an index has
  "-".
- OpenAQ: docs.openaq.org/api (locations, sensors/{id}/hours),
  docs.openaq.org/using-the-api/rate-limits.
- data.gov.in: the resource's own API page (records of "Real time Air Quality Index from various
  locations"); a wrong key is status 403 with {"error": "Key not authorised"}.
"""

import gzip
import json
import ssl
import threading
import time
import urllib.parse
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOUR = 3600


def hour_now() -> int:
    return int(time.time()) // HOUR * HOUR


class Response:
    """A response of the server; a body in place of a document is sent unchanged."""

    def __init__(
        self, document=None, status: int = 200, headers={}, body: bytes | None = None
    ):
        self.status = status
        self.headers = headers
        self.document = document
        self.body = json.dumps(document).encode() if body is None else body


class SourceServer:
    """Serves what `respond(path, query, headers)` returns: a Response, or None for no response.
    Keeps the requests.
    """

    def __init__(self, respond: Callable, context: ssl.SSLContext | None = None):
        self.respond = respond
        self.requests: list[tuple[str, dict[str, list[str]], dict[str, str]]] = []
        self.times: list[float] = []
        self._release = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_CONNECT(self):
                outer.requests.append((self.path, {}, {}))
                self.send_error(502)

            def do_GET(self):
                path, _, text = self.path.partition("?")
                query = urllib.parse.parse_qs(text, keep_blank_values=True)
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.requests.append((urllib.parse.unquote(path), query, headers))
                outer.times.append(time.monotonic())
                response = outer.respond(urllib.parse.unquote(path), query, headers)
                if response is None:
                    outer._release.wait(60)
                    self.close_connection = True
                elif callable(response):
                    response(self)
                else:
                    self.send(response)

            def send(self, response: Response):
                body = response.body
                self.send_response(response.status)
                if response.status == 200 and "gzip" in self.headers.get("Accept-Encoding", ""):
                    body = gzip.compress(body)
                    self.send_header("Content-Encoding", "gzip")
                if response.status != 304:
                    self.send_header("Content-Type", "application/json; charset=utf-8")
                    self.send_header("Content-Length", str(len(body)))
                for name, value in response.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if response.status != 304:
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        if context:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.scheme = "https" if context else "http"
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self._release.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


# Documents

POLLUTANTS = {
    "pm2_5": "pm2_5",
    "pm10": "pm10",
    "nitrogen_dioxide": "no2",
    "sulphur_dioxide": "so2",
    "ozone": "o3",
    "carbon_monoxide": "co",
    "ammonia": "nh3",
}


def open_meteo_place(
    latitude: float, longitude: float, times: list[int], hourly: dict[str, list]
) -> dict:
    return {
        "latitude": latitude,
        "longitude": longitude,
        "generationtime_ms": 2.2,
        "utc_offset_seconds": 0,
        "timezone": "GMT",
        "timezone_abbreviation": "GMT",
        "elevation": 44.0,
        "hourly_units": {"time": "unixtime", **{name: "μg/m³" for name in hourly}},
        "hourly": {"time": times, **hourly},
    }


def open_meteo(query: dict, value: Callable[[float, float, str, int], float | None]):
    """Two days of hours for each place, from yesterday's midnight on, as returned for
    `past_days=1&forecast_days=1`.
    """
    start = int(time.time()) // 86400 * 86400 - 86400
    times = [start + hour * HOUR for hour in range(48)]
    latitudes, longitudes, names = (
        query[name][0].split(",") for name in ("latitude", "longitude", "hourly")
    )
    places = []
    for place in zip(map(float, latitudes), map(float, longitudes), strict=True):
        hourly = {
            name: [value(*place, POLLUTANTS[name], time_) for time_ in times] for name in names
        }
        places.append(open_meteo_place(*place, times, hourly))
    return places if len(places) > 1 else places[0]


def waqi_station(aqi, iso: str, latitude: float, longitude: float) -> dict:
    name, url = "World Air Quality Index Project", "https://aqicn.org/city/station"
    return {
        "status": "ok",
        "data": {
            "aqi": aqi,
            "idx": 1437,
            "attributions": [{"url": "https://waqi.info/", "name": name}],
            "city": {"geo": [latitude, longitude], "name": "Station", "url": url},
            "dominentpol": "pm25",
            "iaqi": {"pm25": {"v": 68}, "pm10": {"v": 56}, "t": {"v": 8}},
            # The local time as if it were UTC.
            "time": {"s": iso[:19].replace("T", " "), "tz": iso[19:], "v": 1705320000, "iso": iso},
        },
    }


def openaq_page(results: list) -> dict:
    found = {"page": 1, "limit": 100, "found": len(results)}
    return {"meta": {"name": "openaq-api", "website": "/"} | found, "results": results}


def iso(time_: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time_))


def instant(time_: float) -> dict:
    return {"utc": iso(time_), "local": iso(time_ + 19800).replace("Z", "+05:30")}


def openaq_location(number: int, last: float, sensors: list[tuple[int, str, str]]) -> dict:
    return {
        "id": number,
        "name": f"Station {number}",
        "locality": None,
        "timezone": "Asia/Kolkata",
        "country": {"id": 9, "code": "IN", "name": "India"},
        "owner": {"id": 4, "name": "Unknown"},
        "provider": {"id": 168, "name": "CPCB"},
        "isMobile": False,
        "isMonitor": True,
        "instruments": [{"id": 2, "name": "Government Monitor"}],
        "sensors": [
            {
                "id": id_,
                "name": f"{name} {units}",
                "parameter": {"id": 2, "name": name, "units": units, "displayName": name.upper()},
            }
            for id_, name, units in sensors
        ],
        "coordinates": {"latitude": 28.63, "longitude": 77.22},
        "licenses": None,
        "bounds": [77.2, 28.6, 77.2, 28.6],
        "distance": 1000.0,
        "datetimeFirst": instant(1457290800),
        "datetimeLast": instant(last),
    }


def openaq_hour(end: float, value, name: str, units: str) -> dict:
    ends = {"datetimeFrom": instant(end - HOUR), "datetimeTo": instant(end)}
    return {
        "value": value,
        "flagInfo": {"hasFlags": False},
        "parameter": {"id": 2, "name": name, "units": units, "displayName": None},
        "period": {"label": "1hour", "interval": "01:00:00", **ends},
        "coordinates": None,
        "summary": None,
        "coverage": {
            "expectedCount": 1,
            "expectedInterval": "01:00:00",
            "observedCount": 1,
            "observedInterval": "01:00:00",
            "percentComplete": 100.0,
            "percentCoverage": 100.0,
            **ends,
        },
    }


def cpcb_rows(
    city: str, station: str, averages: dict[str, str], latitude: str = "28.6", longitude="77.2"
) -> list[dict]:
    return [
        {
            "country": "India",
            "state": "State",
            "city": city,
            "station": station,
            "last_update": time.strftime("%d-%m-%Y %H:%M:%S", time.gmtime(hour_now() + 19800)),
            "latitude": latitude,
            "longitude": longitude,
            "pollutant_id": pollutant,
            **dict.fromkeys(("min_value", "max_value", "avg_value"), value),
        }
        for pollutant, value in averages.items()
    ]


def cpcb_page(rows: list[dict], query: dict) -> dict:
    offset, limit = int(query["offset"][0]), int(query["limit"][0])
    page = rows[offset : offset + limit]
    return {
        "index_name": "3b01bcb8-0b14-4abf-b6f2-c1bfd384ba69",
        "title": "Real time Air Quality Index from various locations",
        "org": ["Central Pollution Control Board"],
        "field": [{"id": "pollutant_id", "name": "pollutant_id", "type": "keyword"}],
        "message": "Resource lists",
        "version": "2.2.0",
        "status": "ok",
        "total": len(rows),
        "count": len(page),
        "limit": str(limit),
        "offset": str(offset),
        "records": page,
    }
