"""air-quality-feed relay between feeds and clients that others wrote, and before the exporter."""

import contextlib
import json
import os

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from support import metrics, raw_feed
from support.peers import WebSocketFeed
from support.shards import shard
from support.waiting import wait_for

# As unlike each other as JSON allows, each with its city.
ELEMENTS = [
    ("Delhi", '{"city":"Delhi","aqi":1}'),
    ("Mumbai", '{ "aqi" : 1.50e1 ,\n"city"\t:"Mumbai" }'),
    ("Zürich", '{"city":"Z\\u00fcrich","x":[{"y":"]}"}],"aqi":"7"}'),
    ("दिल्ली", '{"city":"दिल्ली","aqi":0.10}'),
    ("Kolkata", '{"city":"  Kolkata\\t","aqi":-0}'),
    ('Say "hi", \\', '{"city":"Say \\"hi\\", \\\\","aqi":3}'),
    ("Delhi", '{"city":"Delhi","aqi":2}'),
]


@pytest.fixture
def relay(start, python_feed):
    """Starts a relay of the feed and waits until it is connected."""

    def begin(*flags: str):
        before = len(python_feed.requests)
        started = start.feed("relay", python_feed.url, "--reconnect-min=50ms", "--reconnect-max=100ms", *flags)
        python_feed.wait_for_client(len(python_feed.clients) if len(python_feed.requests) > before else 1)
        return started

    return begin


def of_shard(index: int, count: int, elements=ELEMENTS) -> str:
    return "[" + ",".join(text for city, text in elements if shard(city, count) == index) + "]"


def listen(stack: contextlib.ExitStack, url: str, path: str = ""):
    return stack.enter_context(connect(url + path, max_size=None))


def test_each_client_gets_its_part_byte_for_byte(relay, python_feed):
    served = relay("--shards=3")
    with contextlib.ExitStack() as stack:
        parts = [listen(stack, served.url, f"shard/{index}/3") for index in range(3)]
        whole = listen(stack, served.url)
        message = " [" + " ,\n".join(text for _, text in ELEMENTS) + "]\n"
        python_feed.send(message)
        assert whole.recv(30) == message
        expected = [of_shard(index, 3) for index in range(3)]
        assert all(part != "[]" for part in expected)
        assert [part.recv(30) for part in parts] == expected
        # Who has nothing in a message gets none: the next one is for all.
        first = '[{"city":"Delhi","aqi":9}]'
        python_feed.send(first)
        python_feed.send("[]")
        python_feed.send(message)
        for index, part in enumerate(parts):
            if index == shard("Delhi", 3):
                assert part.recv(30) == first
            assert part.recv(30) == expected[index]
        assert [whole.recv(30) for _ in range(3)] == [first, "[]", message]


def test_a_new_client_gets_the_last_element_of_each_of_its_cities_first(relay, python_feed):
    served = relay("--shards=3")
    with contextlib.ExitStack() as stack:
        whole = listen(stack, served.url)
        for number in (1, 2):
            python_feed.send("[" + ",".join(text for _, text in ELEMENTS[::number]) + "]")
            whole.recv(30)
        last = {city: text for city, text in ELEMENTS + ELEMENTS[::2]}
        for index in range(3):
            greeting = listen(stack, served.url, f"shard/{index}/3").recv(30)
            known = [text for city, text in last.items() if shard(city, 3) == index]
            assert sorted(json.loads(greeting), key=str) == sorted((json.loads(text) for text in known), key=str)
            assert all(text in greeting for text in known)
        assert {text for text in last.values() if text in listen(stack, served.url).recv(30)} == set(last.values())


def test_a_path_that_is_not_served_is_404_with_the_reason(relay):
    served = relay("--shards=4")
    for path, reason in {
        "shard/0/5": "the feed is divided into 4, expected / or /shard/I/4 with I from 0 to 3",
        "shard/4/4": "expected / or /shard/I/4 with I from 0 to 3",
        "shards/0/4": "expected / or /shard/I/4 with I from 0 to 3",
    }.items():
        with pytest.raises(InvalidStatus) as refused:
            connect(served.url + path)
        assert refused.value.response.status_code == 404
        assert refused.value.response.body.decode() == reason + "\n"


def test_what_is_no_array_is_passed_to_nobody_and_counted(relay, python_feed, start):
    served = relay("--shards=2", "--max-message-bytes=1KiB")
    with connect(served.url) as client:
        for text in ("5", "not JSON", b'[{"city":"A","aqi":1}]', "[" + " " * 2000 + "]", '"[]"'):
            python_feed.send(text)
        python_feed.send('[{"city":"A","aqi":2}]')
        assert client.recv(30) == '[{"city":"A","aqi":2}]'
    assert served.messages[1:] == ["did not pass on 1 message (1 not an array)"]
    assert served.stop() is None
    assert served.messages[-1] == (
        "passed on 1 message, refused 5 messages (1 not text, 1 too large, 1 not JSON, 2 not an array)"
    )


def test_clients_stay_while_the_feed_is_down_and_hear_nothing(start):
    feed = WebSocketFeed()
    served = start.feed("relay", feed.url, "--shards=2", "--reconnect-min=50ms", "--reconnect-max=100ms", "--idle-timeout=2s")
    feed.wait_for_client()
    with contextlib.ExitStack() as stack:
        client = listen(stack, served.url, f"shard/{shard('Pune', 2)}/2")
        feed.send('[{"city":"Pune","aqi":1}]')
        assert client.recv(30) == '[{"city":"Pune","aqi":1}]'
        port = feed.port
        feed.stop()
        wait_for(lambda: served.count_lines("dialling again"), "the line that the feed is lost")
        with pytest.raises(TimeoutError):
            client.recv(3)
        # Old values would look like new ones.
        late = listen(stack, served.url, f"shard/{shard('Pune', 2)}/2")
        with pytest.raises(TimeoutError):
            late.recv(0.2)
        feed = WebSocketFeed(port)
        try:
            feed.wait_for_client()
            feed.send('[{"city":"Pune","aqi":2}]')
            assert [each.recv(30) for each in (client, late)] == ['[{"city":"Pune","aqi":2}]'] * 2
        finally:
            feed.stop()


def test_a_slow_client_is_dropped_and_the_others_hear_everything(relay, python_feed):
    served = relay("--shards=2", "--max-message-bytes=64MiB")
    slow = raw_feed.connect(served.url, "/shard/0/2")
    assert b" 101 " in slow.recv(100)
    message = json.dumps([{"city": f"City {number}", "aqi": 1, "x": "x" * 10_000} for number in range(400)])
    expected = None
    with connect(served.url + "shard/0/2", max_size=None, compression=None) as client:
        for _ in range(60):
            python_feed.send(message)
            heard = client.recv(60)
            assert heard == (expected := expected or heard)
            if served.count_lines("too slow"):
                break
    assert served.messages[1:] == ["dropped a client of /shard/0/2 that was too slow"]
    slow.close()


def test_tls_headers_and_the_source_of_the_feed(start, contexts, authority, tmp_path):
    headers = tmp_path / "headers"
    headers.write_text("Authorization: Bearer secret\n")
    source = 'open-meteo; kind=model; license="CC BY 4.0"'
    feed = WebSocketFeed(
        ssl=contexts["good"],
        process_response=lambda connection, request, response: response.headers.update({"Air-Quality-Source": source}),
    )
    try:
        served = start.feed(
            "relay", f"wss://localhost:{feed.port}/", "--ca-file", str(authority.file), "--header-file", str(headers),
            "--header", "X-More: 1")  # fmt: skip
        feed.wait_for_client()
        assert feed.requests[0].headers["Authorization"] == "Bearer secret"
        assert feed.requests[0].headers["X-More"] == "1"
        wait_for(lambda: served.count_lines("relaying wss://"), "the line that the feed is connected")
        with connect(served.url) as client:
            assert client.response.headers["Air-Quality-Source"] == source
    finally:
        feed.stop()


def test_exporters_behind_a_relay_are_one_exporter(relay, python_feed, start):
    served = relay("--shards=4")
    shards = [
        start.exporter("--feed.url", f"{served.url}shard/{index}/4", f"--city.shard={index}/4") for index in range(4)
    ]
    whole = start.exporter("--feed.url", served.url)
    for exporter in (*shards, whole):
        exporter.wait_for_sample(metrics.CONNECTED, 1)
    elements = [{"city": f"City {number}", "aqi": number % 500} for number in range(2000)]
    bad = [5, {"aqi": 1}, {"city": "Pune"}, {"city": "Agra", "aqi": "x"}]
    python_feed.send(elements + bad)
    whole.wait_for_sample(metrics.INDEX, 499, city="City 1999")
    for index, exporter in enumerate(shards):
        last = next(each for each in reversed(elements) if shard(each["city"], 4) == index)
        exporter.wait_for_sample(metrics.INDEX, last["aqi"], city=last["city"])
    pages = [exporter.scrape() for exporter in shards]
    values = [{labels["city"]: value for labels, value in page.samples(metrics.INDEX)} for page in pages]
    assert sum(map(len, values)) == 2000
    assert {city: value for each in values for city, value in each.items()} == {
        each["city"]: each["aqi"] for each in elements
    }
    for reason, count in whole.scrape().nonzero(metrics.REFUSALS, "reason").items():
        assert sum(page.value(metrics.REFUSALS, reason=reason) for page in pages) == count, reason


@pytest.mark.skipif("AIRQUALITY_SLOW" in os.environ, reason="of programs at their own pace")
def test_an_exporter_pays_for_its_shard_alone(relay, python_feed, start):
    served = relay("--shards=16")
    whole, part = (
        start.exporter("--feed.url", served.url + path, "--city.shard=3/16")
        for path in ("", "shard/3/16")
    )
    for exporter in (whole, part):
        exporter.wait_for_sample(metrics.CONNECTED, 1)
    messages = [
        json.dumps([{"city": f"City {number}", "aqi": (number + step) % 500} for number in range(20_000)])
        for step in range(10)
    ]
    python_feed.send(messages[0])
    for exporter in (whole, part):
        exporter.wait_for_sample(metrics.MESSAGES, 1)
    before = [exporter.processor_seconds for exporter in (whole, part)]
    sent = 1
    for message in messages * 8:
        python_feed.send(message)
        sent += 1
    for exporter in (whole, part):
        # Rarely, because being asked costs as well.
        wait_for(lambda: exporter.scrape().value(metrics.MESSAGES) == sent, "all messages", 60, pause=1)
    spent = [exporter.processor_seconds - begun for exporter, begun in zip((whole, part), before)]
    print(f"16 shards: {spent[0] * 1000:.1f} ms for the whole feed, {spent[1] * 1000:.1f} ms for a shard")
    # 5.4 on a quiet machine.
    assert spent[0] / spent[1] > 4
