"""What `poll` reports about itself: metrics, health, log."""

import json
import urllib.error
import urllib.request

import pytest

from live.sources import HOUR, Response, hour_now
from live.test_sources import DELHI, PUNE, open_meteo, waqi
from support.exposition import Exposition
from support.waiting import wait_for

STATUS = "--web.listen-address=127.0.0.1:0"


def status_address(program) -> str:
    return program.wait_for_match(r"Serving metrics on ([^\s\"]+)", program.errors)


def get(address: str, path: str, method: str = "GET", accept: str = "*/*") -> tuple[int, str]:
    url, fields = f"http://{address}{path}", {"Accept": accept}
    request = urllib.request.Request(url, method=method, headers=fields)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_poll_reports_requests_failures_and_readiness(start, serve, cities, listen, key_file):
    """Two cities of WAQI, one of them without a station, and a source that fails at first."""

    def respond(path, query, headers):
        if len(server.requests) == 1:
            return Response({}, 500)
        if "18.5" in path:
            return Response({"status": "error", "data": "Unknown station"})
        return good(path, query, headers) if is_open else Response({}, 429)

    good, is_open = waqi(), False
    server = serve(respond)
    flags = (f"--base-url={server.url}", cities(DELHI, PUNE), key_file, "--interval=1s", STATUS)
    feed = start.feed("poll", "--source=waqi", *flags, "--log.format=json")
    address = status_address(feed)
    assert get(address, "/-/healthy") == (200, "healthy\n")
    assert get(address, "/-/ready") == (503, "no city has data yet\n")
    is_open = True
    listen(feed.url).wait_for_city("Delhi")
    wait_for(lambda: get(address, "/-/ready") == (200, "ready\n"), "readiness")

    def page() -> Exposition:
        return Exposition(get(address, "/metrics")[1])

    family = "airquality_feed"
    wait_for(lambda: page().value(f"{family}_requests_total") >= 3, "the second city's request")
    failures = page().by(f"{family}_request_failures_total", "reason")
    assert (failures["status"], failures["refused"]) == (1, 0)
    assert (page().value(f"{family}_cities"), page().value(f"{family}_cities_with_air")) == (2, 1)
    assert 0 < page().value(f"{family}_calls_left") <= 120
    observed_at = page().value(f"{family}_newest_observation_timestamp_seconds")
    assert observed_at in (hour_now(), hour_now() - HOUR)
    _, text = get(address, "/metrics", accept="application/openmetrics-text; version=1.0.0")
    assert text.endswith("# EOF\n")
    assert get(address, "/metrics", "POST")[0] == 405 and get(address, "/nothing")[0] == 404
    lines = [json.loads(line) for line in feed.errors]
    assert [line["level"] for line in lines if "left out Pune" in line["msg"]] == ["INFO"]
    assert {line["level"] for line in lines if "reports a server error" in line["msg"]} == {"WARN"}


def test_flags_of_poll_are_read_from_variables(start, serve, cities, listen):
    server = serve(open_meteo())
    feed = start.program(
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
    url = feed.wait_for_match(r"listening on (\S+)", feed.output)
    assert listen(url).wait_for_city("Delhi")["basis"] == "1h"
    assert feed.errors == []


@pytest.mark.parametrize(
    "arguments",
    [("simulate",), ("replay", "FILE"), ("poll", "BASE"), ("record", "ws://127.0.0.1:1/")],
    ids=lambda arguments: arguments[0],
)
def test_a_variable_that_names_no_flag_is_named_in_a_warning(arguments, start, serve, tmp_path):
    """Except the key's, those of other commands, and those that Kubernetes injects."""
    message = r'{"time_ms":1795236585252,"message":"[{\"city\":\"Delhi\",\"aqi\":1}]"}'
    (tmp_path / "feed.jsonl").write_text(message + "\n")
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
    assert program.wait_for_line("name no flag").endswith(
        'level=WARN msg="Variables that name no flag are ignored" variables=AIR_QUALITY_FEED_SUORCE'
    )
