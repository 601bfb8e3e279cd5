"""A feed that tries to fill the log, or to forge lines in it."""

import json
import random
import threading

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

from support.memory import returns_memory
from support.waiting import wait_for

#: Messages for every reason for which a feed can have readings rejected.
BAD = [
    '{"a":[{}]}', "[7]", "[{}]", '[{"city":7.5}]', '[{"city":"Pune"}]',
    '[{"city":"Pune","aqi":[]}]', "7", "[", '[{"city":"Pune","aqi":-1}]', b"binary",
    "[" + " " * 2000 + "]",
    '[{"city":"City %d","aqi":1,"time":"never"}]',
    '[{"city":"City %d","aqi":1}]',
]


@pytest.fixture
def hostile_feed():
    """Sends messages that are rejected, and closes each connection with a forged log line."""
    count = [0]
    numbers = random.Random(1)

    def talk(client):
        try:
            for _ in range(300):
                count[0] += 1
                names = json.dumps(
                    {
                        f"{chr(numbers.randrange(32))}\u202e{numbers.random()}" + "x" * 300: 1
                        for _ in range(30)
                    }
                )
                for text in [f"[{names}]", names, *BAD]:
                    client.send(
                        text.replace("%d", str(numbers.random())) if isinstance(text, str) else text
                    )
            client.close(1000, "time=0 level=ERROR\x1b[2J\u2028 msg=owned")
        except ConnectionClosed:
            pass

    with serve(talk, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}/", count
        server.shutdown()
        thread.join(10)


def test_a_feed_can_neither_fill_the_log_nor_forge_lines(start, hostile_feed):
    address, count = hostile_feed
    exporter = start.exporter(
        "--feed.url", address,
        "--feed.time-field=time", "--city.limit=1", "--feed.max-message-bytes=1500",
        "--feed.reconnect-min=1ms", "--feed.reconnect-max=10ms", "--feed.pollutants-field=p",
    )
    with returns_memory(exporter):
        wait_for(lambda: count[0] > 9000, "thirty connections", 120)
    reasons = {
        line.split(" reason=")[1].split()[0]
        for line in exporter.errors
        if "Readings rejected" in line
    }
    assert reasons >= {
        "no_city", "bad_city", "no_value", "bad_value", "bad_time", "out_of_range", "not_an_object",
        "not_an_array", "not_json", "too_large", "city_limit",
    }
    # Twelve reasons, ten names of cities, some twenty connection changes, and the start.
    assert len(exporter.errors) < 60, len(exporter.errors)
    for line in exporter.errors:
        assert len(line) < 2500 and line.startswith("time=20") and line.isprintable(), line
        assert " level=ERROR" not in line.split(" msg=")[0]
    assert exporter.get("/-/ready").text.count("\n") == 1
