"""A history so large that it is made while it is sent: whole and sorted for every reader, in little memory."""

import gzip
import http.client
import json
import os
import pathlib
import threading
import time

import pytest

from support import metrics
from support.raw_http import abort, connect
from support.storage_files import first_version
from support.waiting import wait_for

CITIES = 12_000
#: Of memory, beyond what the exporter needs at rest. The whole document has more. A sanitizer needs some of its own.
EXTRA = (192 if "AIRQUALITY_SLOW" in os.environ else 24) << 20


@pytest.fixture(scope="module")
def exporter(programs, tmp_path_factory):
    file = tmp_path_factory.mktemp("large") / "history.db"
    first_version(file, CITIES, points=25)
    exporter = programs.exporter(
        "--feed.url", "ws://127.0.0.1:9/", "--storage.file", str(file), "--web.history-limit", str(25 * CITIES),
        "--city.expire-after", "0",
    )  # fmt: skip
    yield exporter
    assert exporter.stop() is None


def download(exporter, bytes_per_second: float | None = None, **headers: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", exporter.port, timeout=60)
    connection.request("GET", "/history.json", headers={k.replace("_", "-"): v for k, v in headers.items()})
    response = connection.getresponse()
    assert response.status == 200 and response.headers["Transfer-Encoding"] == "chunked"
    began, received = time.monotonic(), bytearray()
    while part := response.read(1 << 16):
        received += part
        if bytes_per_second:
            time.sleep(max(0, began + len(received) / bytes_per_second - time.monotonic()))
    connection.close()
    return bytes(received)


def test_it_is_whole_and_the_same_in_every_form(exporter):
    plain = download(exporter)
    points = json.loads(plain)["points"]
    assert len(points) == 25 * CITIES
    keys = [(point["time_ms"], point["city"].encode()) for point in points]
    assert keys == sorted(set(keys))
    compressed = download(exporter, Accept_Encoding="gzip")
    assert gzip.decompress(compressed) == plain and len(compressed) < len(plain) / 4
    with connect(exporter.port) as client, client.makefile("rb") as stream:
        client.sendall(b"GET /history.json HTTP/1.0\r\n\r\n")
        head, _, body = stream.read().partition(b"\r\n\r\n")
    assert body == plain and b"chunked" not in head


def test_its_tag_and_head_cost_no_document(exporter):
    head = exporter.get("/history.json", method="HEAD")
    tag = head.headers["Etag"]
    assert head.status == 200 and tag.startswith('W/"') and "Content-Length" not in head.headers
    for condition in (tag, tag.removeprefix("W/"), f'"x", {tag}'):
        answer = exporter.get("/history.json", headers={"If-None-Match": condition})
        assert answer.status == 304 and answer.headers["Etag"] == tag and not answer.body
    one = exporter.get("/history.json?city=City+7")
    assert len(one.json["points"]) == 25 and not one.headers["Etag"].startswith("W/")


def test_it_needs_little_memory_for_each_reader(exporter):
    # The file is converted at the start, which takes memory of its own.
    wait_for(lambda: exporter.scrape().samples(metrics.LAST_WRITE)[0][1] > 0, "the converted file")
    before = exporter.resident_bytes
    pathlib.Path(f"/proc/{exporter.pid}/clear_refs").write_text("5")
    readers = [
        threading.Thread(target=download, args=(exporter,), kwargs=kwargs)
        for kwargs in ({}, {"Accept_Encoding": "gzip"}, {"bytes_per_second": 20e6})
    ]
    for reader in readers:
        reader.start()
    for reader in readers:
        while reader.is_alive():
            # Nobody waits for it.
            assert exporter.get("/-/healthy").status == 200
            reader.join(0.05)
    assert exporter.peak_resident_bytes - before < EXTRA


def test_a_reader_that_goes_away_leaves_nothing_behind(exporter):
    exporter.get("/-/healthy")
    before = exporter.descriptor_count

    def begin(number: int) -> bool:
        client = connect(exporter.port, receive_buffer=4096)
        client.sendall(b"GET /history.json HTTP/1.1\r\nHost: x\r\n\r\n")
        has_begun = client.recv(100 + number).startswith(b"HTTP/1.1 200 ")
        abort(client) if number % 2 else client.close()
        return has_begun

    for number in range(20):
        # Those before may not have been missed yet, and then there is no room.
        wait_for(lambda number=number: begin(number), "room for another one")
    wait_for(lambda: exporter.descriptor_count <= before, "the end of the connections", 120)
    # There is room for another one.
    assert download(exporter, Accept_Encoding="gzip")


def test_more_than_is_allowed_is_refused(start, python_feed):
    exporter = start.exporter("--feed.url", python_feed.url, "--web.history-limit", "99")
    python_feed.wait_for_client()
    python_feed.send_cities(1)
    exporter.wait_for_sample(metrics.CITIES, 100)
    refused = exporter.get("/history.json")
    assert refused.status == 413 and "?city=" in refused.json["error"]
    assert exporter.get("/history.json?city=City+7").status == 200
