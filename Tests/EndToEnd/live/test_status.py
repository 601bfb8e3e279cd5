"""What poll shows of themselves: metrics, health, log."""

import json
import re
import time
import urllib.error
import urllib.request

import pytest

from live.sources import HOUR, Answer
from live.test_sources import DELHI, PUNE, open_meteo, waqi
from support.exposition import Exposition
from support.waiting import wait_for

STATUS = "--web.listen-address=127.0.0.1:0"


def status_address(program) -> str:
    def find():
        return next(
            (
                m[1]
                for line in program.messages
                if (m := re.fullmatch(r"Serving metrics on (\S+)", line))
            ),
            None,
        )

    return wait_for(find, "the address of the metrics")


def get(address: str, path: str, method: str = "GET", accept: str = "*/*") -> tuple[int, str]:
    request = urllib.request.Request(
        f"http://{address}{path}", method=method, headers={"Accept": accept}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_poll(start, serve, cities, listen, key_file):
    """Two cities of WAQI, one of which is dead, and a source that is at fault at first."""

    def answer(path, query, headers):
        if len(server.requests) == 1:
            return Answer({}, 500)
        if "18.5" in path:
            return Answer({"status": "error", "data": "Unknown station"})
        return good(path, query, headers) if is_open else Answer({}, 429)

    good, is_open = waqi(), False
    server = serve(answer)
    bridge = start.feed(
        "poll",
        "--source=waqi",
        f"--base-url={server.url}",
        cities(DELHI, PUNE),
        key_file,
        "--interval=1s",
        STATUS,
        "--log.format=json",
    )
    address = wait_for(
        lambda: next((line for line in bridge.errors if "Serving" in line), None), "the address"
    )
    address = json.loads(address)["msg"].split()[-1]
    assert get(address, "/-/healthy") == (200, "healthy\n")
    assert get(address, "/-/ready") == (503, "no city has data yet\n")
    is_open = True
    listen(bridge.url).wait_for_city("Delhi")
    wait_for(lambda: get(address, "/-/ready") == (200, "ready\n"), "readiness")
    wait_for(
        lambda: (
            Exposition(get(address, "/metrics")[1]).value("airquality_feed_requests_total") >= 3
        ),
        "the request for the second city",
    )
    page = Exposition(get(address, "/metrics")[1])
    assert page.value("airquality_feed_request_failures_total", reason="status") == 1
    assert page.value("airquality_feed_request_failures_total", reason="refused") == 0
    assert (
        page.value("airquality_feed_cities"),
        page.value("airquality_feed_cities_with_air"),
    ) == (2, 1)
    assert 0 < page.value("airquality_feed_calls_left") <= 120
    observed = int(time.time()) // HOUR * HOUR
    assert page.value("airquality_feed_newest_observation_timestamp_seconds") in (
        observed,
        observed - HOUR,
    )
    assert get(address, "/metrics", accept="application/openmetrics-text; version=1.0.0")[
        1
    ].endswith("# EOF\n")
    assert get(address, "/metrics", "POST")[0] == 405 and get(address, "/nothing")[0] == 404
    lines = [json.loads(line) for line in bridge.errors]
    assert [line["level"] for line in lines if "left out Pune" in line["msg"]] == ["INFO"]
    assert {line["level"] for line in lines if "reports a server error" in line["msg"]} == {"WARN"}


def test_every_flag_is_a_variable(start, serve, cities, listen):
    server = serve(open_meteo())
    bridge = start.program(
        "air-quality-feed",
        "poll",
        environment={
            "AIR_QUALITY_FEED_LISTEN": "127.0.0.1:0",
            "AIR_QUALITY_FEED_BASE_URL": server.url,
            "AIR_QUALITY_FEED_INDEX": "eu",
            "AIR_QUALITY_FEED_CITIES": cities(DELHI).split("=", 1)[1],
            "AIR_QUALITY_FEED_LOG_LEVEL": "error",
            "AIR_QUALITY_FEED_WEB_LISTEN_ADDRESS": "127.0.0.1:0",
        },
    )
    line = wait_for(lambda: next(iter(bridge.output), None), "the address")
    assert listen(line.removeprefix("listening on ")).wait_for_city("Delhi")["basis"] == "1h"
    assert bridge.errors == []


@pytest.mark.parametrize(
    "arguments",
    [("simulate",), ("replay", "FILE"), ("poll", "BASE"), ("record", "ws://127.0.0.1:1/")],
    ids=lambda arguments: arguments[0],
)
def test_a_variable_that_names_no_flag_is_named(arguments, start, serve, tmp_path):
    """But the key's, flags of other commands, and what Kubernetes injects for a service called air-
    quality-feed.
    """
    (tmp_path / "feed.jsonl").write_text('[{"city":"Delhi","aqi":1}]\n')
    given = {"FILE": str(tmp_path / "feed.jsonl"), "BASE": f"--base-url={serve(open_meteo()).url}"}
    program = start.program(
        "air-quality-feed",
        *(given.get(each, each) for each in arguments),
        environment={
            "AIR_QUALITY_FEED_SUORCE": "waqi",
            "AIR_QUALITY_FEED_KEY": "k",
            "AIR_QUALITY_FEED_SPEED": "2",
            "AIR_QUALITY_FEED_OUTPUT": str(tmp_path / "out"),
            "AIR_QUALITY_FEED_PORT_8765_TCP": "tcp://10.0.0.1:8765",
            "AIR_QUALITY_FEED_SERVICE_HOST": "10.0.0.1",
            "AIR_QUALITY_FEED_LISTEN": "127.0.0.1:0",
        },
    )
    warning = wait_for(
        lambda: next((line for line in program.errors if "name no flag" in line), None),
        "the warning",
    )
    assert warning.endswith(
        'level=WARN msg="Variables that name no flag are ignored" variables=AIR_QUALITY_FEED_SUORCE'
    )
