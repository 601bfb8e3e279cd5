"""Compression and HEAD. AcceptedFormatTests and PrefersGzipTests have the negotiation of both."""

import contextlib
import http.client

import pytest

from support import metrics
from support.formats import ENCODINGS, FORMATS, gunzip
from support.peers import WebSocketFeed


def test_the_gzip_page_equals_the_plain_one_while_the_page_grows(start, python_feed):
    """The part that depends only on the store is compressed once per version of the store."""
    exporter = start.reader(python_feed, "--web.disable-exporter-metrics")
    sizes = []
    for messages, cities in enumerate([12, 12, 200, 1000, 1000, 1001], start=1):
        python_feed.send_cities(messages, cities)
        exporter.wait_for_sample(metrics.MESSAGES, messages)
        plain = exporter.get("/metrics").body
        for _ in range(2):
            compressed = exporter.get("/metrics", headers={"Accept-Encoding": "gzip"})
            assert gunzip(compressed.body) == plain
        sizes.append(len(plain))
    assert sizes[1] < 64 * 1024 < sizes[2]


@pytest.fixture(scope="module")
def quiet(programs):
    """An exporter whose pages do not change."""
    with (
        WebSocketFeed() as feed,
        programs.exporter("--feed.url", feed.url, "--web.disable-exporter-metrics") as exporter,
    ):
        feed.wait_for_client()
        feed.send([])
        exporter.wait_for_sample(metrics.MESSAGES, 1)
        yield exporter


@pytest.mark.parametrize(
    "path",
    ["/metrics", "/history.json", "/", "/-/healthy", "/-/ready", "/nothing", "/history.json?x="],
)
@pytest.mark.parametrize("encoding", ENCODINGS.values())
def test_head_has_the_same_status_and_headers_as_get_and_no_body(quiet, path, encoding):
    headers = {"Accept-Encoding": encoding, "Accept": FORMATS["OpenMetrics 1.0.0"][0]}
    get = quiet.get(path, headers=headers)
    head = quiet.get(path, "HEAD", headers=headers)
    assert head.body == b"" and get.body
    if path == "/":
        # The page has the time in milliseconds, so its compressed size varies by a few bytes.
        lengths = [int(response.headers.pop("Content-Length")) for response in (get, head)]
        assert abs(lengths[0] - lengths[1]) < 16
    for response in (get, head):
        response.headers.pop("Date", None)
    assert (head.status, head.headers) == (get.status, get.headers)
    # Nothing comes between this response and the next one.
    client = http.client.HTTPConnection("127.0.0.1", quiet.port, timeout=30)
    with contextlib.closing(client) as connection:
        for method in ("HEAD", "GET"):
            connection.request(method, path, headers=headers)
            response = connection.getresponse()
            length = int(response.headers["Content-Length"]) if method == "GET" else 0
            assert (response.status, len(response.read())) == (get.status, length)
