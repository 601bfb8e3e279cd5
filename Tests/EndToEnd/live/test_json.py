"""`--source json`: a jq program makes any JSON source a feed; the programs are the README's."""

import pathlib
import re
import time

import pytest

from live.sources import Response
from live.test_status import STATUS, get, status_address
from support.memory import within

README = pathlib.Path(__file__).resolve().parents[3] / "Sources/FeedTools/AirQualityFeed/README.md"
PROGRAM = "--jq=.[] | {city: .n, aqi: .v}"
PROGRAMS = dict(
    re.findall(r"^# (\S[^\n]*)\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
)


def sensor(
    number: int, value: str | None, pm10: str | None = "12.5", indoor: int = 0, second: int = 0
) -> dict:
    """A measurement as sensor.community returns it."""
    place = {"id": 7, "latitude": "52.52", "longitude": "13.40", "country": "DE", "indoor": indoor}
    values = {"P1": pm10, "P2": value}
    return {
        "id": number,
        "timestamp": f"2026-07-21 19:00:{second:02}",
        "location": place,
        "sensor": {"id": number, "sensor_type": {"name": "SDS011"}},
        "sensordatavalues": [{"value_type": kind, "value": text} for kind, text in values.items()],
    }


PURPLE_AIR = {
    "api_version": "V1.0.14-0.0.58",
    "time_stamp": 1784660500,
    "data_time_stamp": 1784660450,
    "fields": ["sensor_index", "last_seen", "name", "latitude", "longitude", "pm2.5_60minute"],
    "data": [
        [1, 1784660400, "Shore", 37.9, -122.3, 2.5],
        [2, 1784660400, "Hill", 37.8, -122.2, None],
        [3, 1784660400, "Cliff", 37.8, -122.2, -1],
        [4, 1784660400, "Cave", 37.8, -122.2, "unknown"],
        [5, 1784660400, "Shore", 37.7, -122.4, 9.0],
    ],
}
UNUSABLE = ["unknown", "", None, "-1", "999.9"]
AIR_GRADIENT = {"wifi": -46, "serialno": "ecda3b1eaaaf", "pm01": 3, "pm02": 7, "pm10": 8}

# A source's documents in the order of its responses, with older and unusable values; the elements.
EXAMPLES = {
    "sensor.community": (
        [
            [sensor(1, "10.00", second=50), sensor(1, "90", second=20), sensor(2, "50.0", indoor=1)]
            + [sensor(3, "145")]
            + [sensor(4 + number, value, value) for number, value in enumerate(UNUSABLE)]
        ],
        [
            ("sensor.community 1", 30, {"pm10": "12.5", "pm2_5": "10.00"}),
            ("sensor.community 3", 102, {"pm10": "12.5", "pm2_5": "145"}),
        ],
    ),
    "PurpleAir": (
        [PURPLE_AIR],
        [("Shore 1", 14, {"pm2_5": 2.5}), ("Shore 5", 50, {"pm2_5": 9.0})],
    ),
    "AirGradient": (
        [AIR_GRADIENT | {"pm02": value, "pm10": value} for value in UNUSABLE] + [AIR_GRADIENT],
        [("ecda3b1eaaaf", 12, {"pm2_5": 7, "pm10": 8})],
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_the_readme_read_the_documents_of_their_sources(name, start, serve, listen):
    documents, expected = EXAMPLES[name]
    program = re.search(r"--jq '(.*?)'", PROGRAMS[name], re.DOTALL)[1]
    server = serve(lambda *_: Response(documents[min(len(server.requests), len(documents)) - 1]))
    url = f"--url={server.url}/data?a=b"
    feed = start.feed("poll", "--source=json", url, f"--jq={program}", "--interval=1s")
    listener = listen(feed.url)
    listener.wait_for(lambda elements: elements, "the elements")
    elements = next(message for message in listener.messages if message)
    assert [(e["city"], round(e["aqi"]), e["pollutants"]) for e in elements] == expected
    assert not any("--jq" in line for line in feed.messages)


@pytest.mark.parametrize("program", ["def map(f): f; . # everything", "# everything"])
def test_an_element_without_a_time_has_that_of_the_response(start, serve, listen, program):
    """Otherwise each repetition would be a new reading."""
    begin = int(time.time())
    server = serve(lambda *_: Response([{"a": 1}, {"a": 2, "time": None}, {"a": 3, "time": 7}, 4]))
    flags = (f"--url={server.url}/", "--interval=1d", f"--jq={program}")
    feed = start.feed("poll", "--source=json", *flags)
    listener = listen(feed.url)
    listener.wait_for(lambda elements: elements, "the elements")
    # A client that connects while they are sent gets them twice.
    elements = next(message for message in listener.messages if message)
    arrived = elements[0]["time"]
    assert begin <= arrived <= time.time()
    assert elements[1:] == [{"a": 2, "time": arrived}, {"a": 3, "time": 7}, 4]
    assert listen(feed.url).wait_for(lambda elements: elements, "the greeting") == elements


def test_requests_carry_the_headers_of_the_file_and_new_clients_get_the_last_elements(
    start, serve, listen, tmp_path
):
    asked = []

    def respond(path, query, headers):
        asked.append((path, query, headers.get("x-key")))
        return Response([{"n": "A", "v": len(asked)}])

    (tmp_path / "headers").write_text("# secret\nX-Key: abc\n")
    server = serve(respond)
    flags = (f"--url={server.url}/data?a=b", f"--header-file={tmp_path / 'headers'}", STATUS)
    feed = start.feed("poll", "--source=json", PROGRAM, "--interval=1s", *flags)
    first = listen(feed.url)
    first.wait_for(lambda elements: len(elements) >= 3, "three rounds")
    assert {each[2] for each in asked} == {"abc"}
    second = listen(feed.url)
    second.wait_for(lambda elements: elements, "the greeting")
    assert get(status_address(feed), "/-/ready")[0] == 200


def test_the_log_shows_no_secret_that_a_source_or_a_proxy_repeats(start, serve, tmp_path):
    (tmp_path / "headers").write_text("X-Key: Bearer header-secret\n")
    server = serve(lambda path, query, headers: Response({"error": f"{query} {headers}"}, 401))
    url = f"--url={server.url}/data?token=query%2Fsecret"
    flags = ("poll", "--source=json", url, PROGRAM, f"--header-file={tmp_path / 'headers'}")
    denied = start.feed(*flags)
    line = denied.wait_for_line("rejected the request")
    assert "***" in line and "(the key is from --header-file" in line
    proxied = start.feed(*flags, environment={"http_proxy": "http://me:proxy-secret@h:99999"})
    proxied.wait_for_line("cannot be reached")
    log = "\n".join(denied.messages + proxied.messages)
    assert not any(f"{kind}secret" in log for kind in ("header-", "query/", "query%2F", "proxy-"))


def test_a_huge_response_takes_little_memory_and_the_next_one_is_read(start, serve, listen):
    """Too long, or as long as allowed: many values, a text, nesting, endless results."""
    whole = (4 << 20) - 1
    bodies = [
        b" " * (9 << 20),
        b"[" + b"1," * (whole // 2 - 1) + b"1]",
        b'"' + b"x" * (whole - 2) + b'"',
        b"[" * whole,
        b'{"endless": true}',
    ]
    good = Response({"city": "A", "aqi": 7})
    server = serve(
        lambda *_: good if len(server.requests) > len(bodies)
        else Response(body=bodies[len(server.requests) - 1])
    )
    feed = start.feed(
        "poll", "--source=json", f"--url={server.url}/", "--interval=1s",
        "--jq=objects | if .endless then repeat(.) else . end",
    )
    listen(feed.url).wait_for_city("A", 120)
    assert len(server.requests) > len(bodies)
    assert feed.peak_resident_bytes < within(96)
    log = "\n".join(feed.messages)
    assert "the body has more than 4194304 bytes" in log
    assert "needs more than 1 s" in log or "more than 100000 results" in log


@pytest.mark.parametrize(
    "response, line",
    [
        (Response(body=b" \n"), "it is empty; trying again"),
        (Response(body=b"<html>Down</html>"), "json sent a response that is not JSON: "),
        (
            Response({"status": "error", "message": "Invalid API key"}),
            r'it selects nothing; the response says \"Invalid API key\"',
        ),
    ],
)
def test_a_response_without_data_is_logged_and_the_last_elements_are_kept(
    start, serve, listen, response, line
):
    def respond(path, query, headers):
        return Response({"data": [{"n": "A", "v": 7}]}) if len(server.requests) == 1 else response

    server = serve(respond)
    flags = (f"--url={server.url}/", "--jq=.data[]? | {city: .n, aqi: .v}", "--interval=1s")
    feed = start.feed("poll", "--source=json", *flags)
    feed.wait_for_line(line)
    assert listen(feed.url).wait_for_city("A")["aqi"] == 7
    # The program is at fault only if it selects nothing.
    assert any("--jq" in each for each in feed.messages) == ("selects" in line)


def test_a_failing_jq_program_is_logged_and_counted(start, serve):
    url = f"--url={serve(lambda *_: Response({'error': 'none'})).url}/"
    feed = start.feed("poll", "--source=json", url, "--jq=.[] | .a.b.c", "--interval=1s", STATUS)
    assert "Cannot index string" in feed.wait_for_line("--jq")
    page = get(status_address(feed), "/metrics")[1]
    assert 'reason="unreadable"}' in page and 'reason="unreadable"} 0' not in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--source=json"], "--url: expected an address with --source json"),
        (["--source=json", "--url=http://h/"], "--jq: expected a program with --source json"),
        (["--source=json", "--url=http://h/", "--jq=.["], "expected a jq program: "),
        (["--source=json", "--url=http://h/", "--jq=.", "--set=india"], "another --source"),
        (["--source=json", "--url=ftp://h/", "--jq=."], "expected http:// or https://"),
        (["--url=http://h/"], "expected --source json with it"),
    ],
)
def test_an_invalid_combination_of_flags_is_rejected(programs, arguments, said):
    assert said in programs.rejection("air-quality-feed", "poll", *arguments)
