"""The flags of a feed for its handshake, its messages and its pauses."""

import base64

from support import metrics
from support.peers import WebSocketFeed
from support.waiting import wait_for

QUICK = ("--feed.reconnect-min=10ms", "--feed.reconnect-max=50ms")


def wait_for_request(feed: WebSocketFeed, number: int):
    return wait_for(lambda: feed.requests[number - 1], f"handshake {number}")


def test_a_feed_is_paused_while_nobody_scrapes_and_resumed_by_a_scrape(start, python_feed):
    # Longer than the time from here to the first scrape.
    exporter = start.reader(python_feed, *QUICK, "--feed.pause-when-unused", "3s")
    python_feed.send([{"city": "Pune", "aqi": 1}])
    exporter.wait_for_sample(metrics.INDEX, 1, city="Pune")

    # Neither the health paths nor the page need the feed, so they do not resume it.
    def is_paused():
        assert exporter.get("/").status == 200
        return exporter.get("/-/ready").status == 200 and not python_feed.clients

    wait_for(is_paused, "the end of the connection")
    exporter.wait_for_line("Feed paused")
    assert exporter.get("/-/ready").status == 200
    assert exporter.get("/-/healthy").status == 200
    assert len(python_feed.requests) == 1

    page = exporter.scrape()
    assert page.value(metrics.PAUSED) == 1
    assert page.value(metrics.CONNECTED) == 0
    assert page.value(metrics.INDEX, city="Pune") == 1
    assert page.nonzero(metrics.DISCONNECTS, "reason") == {"paused": 1}

    python_feed.wait_for_client()
    python_feed.send([{"city": "Pune", "aqi": 2}])
    exporter.wait_for_sample(metrics.INDEX, 2, city="Pune")
    page = exporter.scrape()
    assert page.value(metrics.PAUSED) == 0
    assert page.value(metrics.CONNECTED) == 1
    assert not [line for line in exporter.errors if "level=WARN" in line]


def test_a_post_request_reconnects_the_feed(start, python_feed):
    exporter = start.reader(python_feed, "--web.enable-lifecycle")
    assert exporter.get("/-/reconnect").status == 405
    assert exporter.get("/-/reconnect", "POST").status == 200
    wait_for_request(python_feed, 2)
    exporter.wait_for_sample(metrics.CONNECTED, 1)
    page = exporter.scrape()
    assert page.nonzero(metrics.DISCONNECTS, "reason") == {"requested": 1}
    assert page.value(metrics.ATTEMPTS) == 2


def test_headers_from_flags_and_the_file_are_sent_and_kept_secret(start, python_feed, tmp_path):
    file = tmp_path / "headers"
    file.write_text("# who asks\nX-Token: first secret\n\nX-Other:other\n")
    exporter = start.exporter(
        "--feed.url", python_feed.url,
        *QUICK,
        "--feed.header", "X-Api-Key: k=1; flag secret",
        "--feed.header-file", str(file),
        "--log.level=debug",
    )
    headers = wait_for_request(python_feed, 1).headers
    assert headers["X-Api-Key"] == "k=1; flag secret"
    assert headers["X-Token"] == "first secret"
    assert headers["X-Other"] == "other"

    # The file is read at each connect, so a new secret needs no restart.
    file.write_text("X-Token: second secret\n")
    python_feed.close_clients()
    headers = wait_for_request(python_feed, 2).headers
    assert headers["X-Token"] == "second secret"
    assert "X-Other" not in headers

    # With an unusable file, the handshake fails until the file can be used again.
    file.write_text("third secret without a colon\n")
    python_feed.close_clients()
    exporter.wait_for_sample(metrics.DISCONNECTS, at_least=2, reason="handshake")
    wait_for(
        lambda: any("line 1" in line and "headers" in line for line in exporter.errors),
        "the line that says why",
    )
    # It is read over and over by now, so it is replaced atomically.
    (tmp_path / "new").write_text("X-Token: fourth secret\n")
    (tmp_path / "new").replace(file)
    assert wait_for_request(python_feed, 3).headers["X-Token"] == "fourth secret"
    assert len(python_feed.requests) == 3
    assert (
        "secret" not in "\n".join(exporter.errors) + exporter.scrape().text + exporter.get("/").text
    )


def test_a_subscription_is_repeated_at_its_interval(start, python_feed):
    start.exporter(
        "--feed.url", python_feed.url, "--feed.subscribe=ping", "--feed.subscribe-interval=1s"
    )
    wait_for(lambda: len(python_feed.received) >= 3, "three of them")
    assert set(python_feed.received) == {"ping"}


def test_subscriptions_are_sent_after_each_connect(start, python_feed):
    subscriptions = ['{"subscribe":"aqi","cities":["Pune","नई दिल्ली"]}', "second " + "x" * 70_000]
    flags = [flag for text in subscriptions for flag in ("--feed.subscribe", text)]
    start.exporter("--feed.url", python_feed.url, *QUICK, *flags)
    for number in (1, 2, 3):
        wait_for(
            lambda: len(python_feed.received) >= 2 * number,
            f"the subscriptions of connection {number}",
        )
        assert python_feed.received == subscriptions * number
        python_feed.close_clients()


def test_secrets_in_the_address_are_sent_to_the_feed_and_shown_nowhere(start, python_feed):
    secrets = ["hidden-user", "hidden p@ss", "hidden%20p%40ss", "hidden-token"]
    secrets.append(base64.b64encode(b"hidden-user:hidden p@ss").decode())
    exporter = start.exporter(
        "--feed.url",
        f"ws://hidden-user:hidden%20p%40ss@127.0.0.1:{python_feed.port}/live?token=hidden-token",
        *QUICK,
        "--log.level=debug",
    )
    request = wait_for_request(python_feed, 1)
    assert request.headers["Authorization"] == "Basic " + secrets[-1]
    assert request.path == "/live?token=hidden-token"
    python_feed.close_clients()
    wait_for_request(python_feed, 2)
    port = python_feed.port
    python_feed.stop()
    exporter.wait_for_sample(metrics.DISCONNECTS, at_least=1, reason="refused")
    page = exporter.scrape()
    assert page.samples(metrics.CONNECTED) == [({"feed": f"ws://127.0.0.1:{port}/live"}, 0)]
    shown = "\n".join(
        exporter.errors
        + [page.text]
        + [exporter.get(path).text for path in ("/", "/-/ready", "/history.json")]
    )
    assert not [secret for secret in secrets if secret in shown]
