"""The most that the default limits allow: everything at once must fit in 256 MiB."""

import contextlib
import json

from support import metrics
from support.exposition import Exposition
from support.large_messages import LIMIT, NUMBERS, OBJECTS, send_at_once, start_exporter
from support.memory import MIB
from support.raw_http import connect

CITIES = 10_000
CONNECTIONS = 512
DETAILS = (
    "--feed.pollutants-field=p", "--feed.subindices-field=s", "--feed.place-field=l",
)
POLLUTANTS = {name: 12.5 for name in ("pm2_5", "pm10", "no2", "so2", "o3", "co", "nh3")}
PLACE = {"latitude": 12.5, "longitude": -120.25, "country": "IN"}


def messages(index: int) -> list[str]:
    """All cities with every detail and the longest names, in messages of the largest size."""
    found, elements, size = [], [], 2
    for number in range(CITIES):
        name = f"City {number} ".ljust(128, "x")
        element = {"city": name, "aqi": index, "p": POLLUTANTS, "s": POLLUTANTS, "l": PLACE}
        text = json.dumps(element, separators=(",", ":"))
        if size + len(text) + 1 > LIMIT:
            found.append(elements)
            elements, size = [], 2
        elements.append(text)
        size += len(text) + 1
    return [f"[{','.join(elements)}]" for elements in [*found, elements]]


def test_the_most_cities_metrics_and_largest_messages_fit_in_256_mib(launcher, start, feeds):
    exporter = start_exporter(start, feeds, *DETAILS, launcher=launcher)
    gzip = {"Accept": "application/openmetrics-text;version=1.0.0", "Accept-Encoding": "gzip"}
    with contextlib.ExitStack() as clients:
        for number in range(CONNECTIONS - 8):
            source = f"127.0.0.{number % 8 + 2}"
            client = clients.enter_context(connect(exporter.port, source=source))
            client.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n")
        for index in (40, 140, 240):
            for message in messages(index):
                send_at_once(feeds, message)
                assert exporter.get("/metrics", headers=gzip).status == 200
        for message in (NUMBERS, OBJECTS):
            send_at_once(feeds, message)
            assert exporter.get("/metrics", headers=gzip).status == 200
        exporter.wait_for_sample(metrics.CITIES, CITIES)
        page = Exposition(exporter.get("/metrics").text)
    assert len(page.samples("airquality_subindex")) == 7 * CITIES
    print(f"{exporter.peak_resident_bytes / MIB:.0f} MiB at the peak")
    assert exporter.peak_resident_bytes < 256 * MIB
