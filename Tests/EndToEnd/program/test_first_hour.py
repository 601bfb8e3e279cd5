"""The mistakes of the first hour: what was typed, and what is said."""

import html
import re
from urllib.parse import urlsplit

import pytest

from support.waiting import wait_for

EXPORTER, FEED = "air-quality-exporter", "air-quality-feed"
DEMO = "--feed.demo"


@pytest.mark.parametrize(
    ("program", "arguments", "said"),
    [
        # The wording of each kind stands in the unit tables: here one of each reaches standard
        # error.
        (
            EXPORTER,
            ["--config.file=x"],
            r'unknown flag "--config.file", there is no file of flags; .*',
        ),
        (
            EXPORTER,
            ["poll", "--key=secret"],
            r'unexpected argument "poll", a command of the other program, .*',
        ),
        (
            FEED,
            ["healthcheck"],
            r'unexpected argument "healthcheck", a command of the other program, .*',
        ),
        (
            EXPORTER,
            ["ws://me:secret@h/?token=secret"],
            r".* did you mean --feed.url \"ws://\*\*\*@h/\?\*\*\*\"\?",
        ),
        (EXPORTER, [], r"no feed: give --feed.url ADDRESS, or --feed.demo for a simulated one"),
    ],
)
def test_a_mistake_is_one_line_that_helps(programs, program, arguments, said):
    ended = programs.run(program, *arguments)
    assert (ended.process.returncode, ended.output) == (1, [])
    assert len(ended.errors) == 1 and "secret" not in ended.errors[0]
    assert re.fullmatch(f"{program}: {said}", ended.errors[0]), ended.errors


def test_a_misspelt_variable_is_named_where_no_feed_ends_the_start(programs):
    ended = programs.run(EXPORTER, environment={"AIR_QUALITY_EXPORTER_FEED_ULR": "ws://x/"})
    assert ended.process.returncode == 1
    assert ended.errors[0].endswith("; no flag has the variable AIR_QUALITY_EXPORTER_FEED_ULR")


def test_what_is_clear_is_understood(programs):
    ended = programs.run(
        EXPORTER,
        *("--log.level", "INFO", "--log.format=JSON", "--aqi.scale", "US", "--feed.demo", "TRUE"),
        *("--metrics.families", "index,category", "--web.enable-lifecycle", "false"),
        "--config.check",
    )
    assert (ended.process.returncode, ended.output, ended.errors) == (
        0,
        ["configuration is valid"],
        [],
    )


KUBERNETES = {
    "AIR_QUALITY_EXPORTER_PORT": "tcp://10.0.0.1:80",
    "AIR_QUALITY_EXPORTER_SERVICE_HOST": "10.0.0.1",
}


@pytest.mark.parametrize(
    "arguments, environment, warnings",
    [
        (
            [DEMO],
            KUBERNETES | {"AIR_QUALITY_EXPORTER_FEED_ULR": "x", "AIR_QUALITY_EXPORTER_B": "secret"},
            [
                r'msg="Variables that name no flag are ignored" '
                r'variables="AIR_QUALITY_EXPORTER_B AIR_QUALITY_EXPORTER_FEED_ULR"'
            ],
        ),
        (
            [DEMO, "--feed.url=ws://127.0.0.1:1/"],
            {},
            [r"Simulated readings are mixed .* flag=--feed.demo"],
        ),
        (
            ["--feed.url=ws://127.0.0.1:1/", "--feed.insecure-skip-verify"],
            {},
            [r"is wss://.*--feed.insecure-skip-verify"],
        ),
        (
            ["--feed.url=wss://127.0.0.1:1/", "--feed.insecure-skip-verify"],
            {},
            [r"not verified.* flag=--feed.insecure-skip-verify"],
        ),
        (
            ["file", "- {url: 'ws://127.0.0.1:1/', insecure-skip-verify: true}"],
            {},
            [r"is wss://.*--feed.insecure-skip-verify"],
        ),
    ],
)
def test_what_is_probably_a_mistake_is_a_warning(
    programs, start, tmp_path, arguments, environment, warnings
):
    if arguments[0] == "file":
        (tmp_path / "feeds.yml").write_text(arguments[1])
        arguments = [f"--feed.file={tmp_path / 'feeds.yml'}", *arguments[2:]]
    check = programs.run(EXPORTER, *arguments, "--config.check", environment=environment)
    assert (check.process.returncode, check.output) == (0, ["configuration is valid"])
    running = start.exporter(*arguments, environment=environment)
    wait_for(lambda: running.count_lines("Connecting to feed"), "the feeds")
    started = [
        line for line in running.errors if "level=WARN" in line and "unreachable" not in line
    ]
    for lines in (check.errors, started):
        assert len(lines) == len(warnings), lines
        assert all(
            re.search(warning.replace(" .*", ".*"), line) for warning, line in zip(warnings, lines)
        ), lines


def test_the_log_says_what_was_understood_before_any_feed_is_dialled(start, programs, tmp_path):
    (tmp_path / "feeds.yml").write_text("- url: ws://127.0.0.1:1/\n- url: ws://127.0.0.1:2/\n")
    exporter = start.exporter(
        DEMO,
        "--aqi.scale=eu",
        f"--storage.file={tmp_path / 'readings.sqlite'}",
        f"--feed.file={tmp_path / 'feeds.yml'}",
    )
    wait_for(lambda: exporter.count_lines('msg="Feed connected" feed=demo'), "the connection")
    # A start that fails is one line, so this one comes once the storage file is open.
    created, first = exporter.errors[:2]
    assert 'msg="Storage file created"' in created
    assert re.search(
        r'level=INFO msg="Starting air-quality-exporter" version=\S+ revision=\S+ '
        r"scale=eu feeds=3 storage=/\S+$",
        first,
    ), first
    assert exporter.count_lines('level=INFO msg="Connecting to feed" feed=demo') == 1


# What a feed sends, what is said of it, and the flags that read it then. FeedTests have more.
REJECTED = {
    "objects in the elements": (
        [{"station": {"name": "Pune"}, "data": {"a/b": {"aqi": [51]}}}],
        'reason=no_city rejected=1 accepted=0 fields="station,data" '
        "hint=\"--feed.city-field /station/name --feed.value-field '/data/a~1b/aqi/0'\"",
        ["--feed.city-field", "/station/name", "--feed.value-field", "/data/a~1b/aqi/0"],
    ),
    "what steers a terminal": (
        [{"\x1b[2J\n\u202e": 1, "x" * 1000: 2}],
        'reason=no_city rejected=1 accepted=0 fields=" [2J  ,' + "x" * 48 + '"',
        None,
    ),
}


@pytest.mark.parametrize("message, said, flags", REJECTED.values(), ids=REJECTED)
def test_rejected_readings_are_explained(start, python_feed, message, said, flags):
    exporter = start.exporter("--feed.url", python_feed.url)
    python_feed.wait_for_client()
    for _ in range(3):
        python_feed.send(message)
    wait_for(
        lambda: exporter.scrape().value("airquality_exporter_feed_messages_total") == 3,
        "the messages",
    )
    wait_for(lambda: exporter.count_lines("Readings rejected"), "the line")
    lines = [line for line in exporter.errors if "Readings rejected" in line]
    assert len(lines) == 1 and lines[0].endswith(
        f'level=WARN msg="Readings rejected" feed={python_feed.url} {said}'
    ), lines
    ready = exporter.get("/-/ready")
    assert ready.status == 503
    counted = said.replace("rejected=1 ", "rejected=3 ")
    # The hint as it is typed into a shell.
    counted = re.sub(r' hint="(.*)"$', r", to set: \1", counted)
    assert ready.text == f"no fresh reading: {python_feed.url}: readings rejected: {counted}\n"
    # The page says why, without the address, which is nobody's business who can read it.
    page = html.unescape(exporter.get("/").text)
    assert "<strong>Connected, no readings yet.</strong>" in page
    reason = said.split()[0].removeprefix("reason=")
    assert f"<p>All readings are rejected ({reason}), " in page
    assert (" To set: --feed." in page) == (flags is not None)
    assert "127.0.0.1" not in page
    if flags:
        other = start.exporter("--feed.url", python_feed.url, *flags)
        python_feed.wait_for_client(2)
        python_feed.send(message)
        other.wait_for_sample("airquality_index", 51, city="Pune")
        assert other.get("/-/ready").status == 200 and not other.count_lines("Readings rejected")


def test_one_good_reading_is_enough_to_be_ready(start, python_feed):
    exporter = start.exporter("--feed.url", python_feed.url)
    python_feed.wait_for_client()
    python_feed.send({"type": "welcome"})
    wait_for(lambda: exporter.get("/-/ready").text.count("fields=type"), "the rejection")
    python_feed.send([{"city": "Pune", "aqi": 51}])
    wait_for(lambda: exporter.get("/-/ready").status == 200, "readiness")
    assert all("are rejected" not in exporter.get(path).text for path in ("/", "/about"))


def test_fields_are_names_or_pointers(start, python_feed, tmp_path):
    (tmp_path / "feeds.yml").write_text(
        f"- url: {python_feed.url}\n  value-field: /data/aqi\n"
        "  city-field: /where/city\n  time-field: /data/t\n"
        "  pollutants-field: /data/p\n  subindices-field: /data/s\n  place-field: /where\n"
    )
    exporter = start.exporter("--feed.file", str(tmp_path / "feeds.yml"))
    python_feed.wait_for_client()
    where = {"city": "Pune", "country": "IN", "latitude": 18.5, "longitude": 73.9}
    python_feed.send(
        [{"data": {"aqi": 51, "t": 1795236585, "p": {"pm10": 7}, "s": {"pm10": 9}}, "where": where}]
    )
    exporter.wait_for_sample("airquality_index", 51, city="Pune")
    page = exporter.scrape()
    assert page.value("airquality_last_update_timestamp_seconds", city="Pune") == 1795236585
    assert page.value("airquality_concentration_ugm3", city="Pune", pollutant="pm10") == 7
    assert page.value("airquality_subindex", city="Pune", pollutant="pm10") == 9
    assert page.value("airquality_city_info", city="Pune", country="IN") == 1


NOT_TLS = (
    r"reason=tls err=.*wrong version number: "
    r"the server does not speak TLS, ws:// instead of wss://\?\"?$"
)


@pytest.mark.parametrize(
    "kind, scheme, path, said",
    [
        ("feed", "wss", "/", NOT_TLS),
        # libmicrohttpd 1 says nothing to a client that speaks TLS; what 0.9.75 says may be lost,
        # as it hangs up at once.
        (
            "exporter",
            "wss",
            "/",
            r'err=".*(does not speak TLS|ended the TLS handshake), ws:// instead of wss://\?"',
        ),
        (
            "exporter",
            "ws",
            "/metrics",
            r'reason=handshake err="status 200 instead of 101: this is no WebSocket endpoint"',
        ),
        (
            "exporter",
            "ws",
            "/nothing",
            r'reason=handshake err="status 404 instead of 101: this is no WebSocket endpoint"',
        ),
    ],
    ids=["feed without TLS", "exporter without TLS", "200", "404"],
)
def test_an_address_of_something_else_is_recognised(start, kind, scheme, path, said):
    other = (
        urlsplit(start.feed("simulate").url).netloc
        if kind == "feed"
        else start.exporter(DEMO).address
    )
    exporter = start.exporter("--feed.url", f"{scheme}://{other}{path}")
    wait_for(lambda: any(re.search(said, line) for line in exporter.errors), "the words")
    words = re.search(
        'err="?(.*?)"?$', next(line for line in exporter.errors if re.search(said, line))
    )[1]
    assert words in exporter.get("/-/ready").text


def test_an_idle_feed_is_said_to_be_slower_than_its_flag(start, python_feed):
    exporter = start.exporter("--feed.url", python_feed.url, "--feed.idle-timeout=2s")
    python_feed.wait_for_client()
    for _ in range(3):
        python_feed.send([{"city": "Pune", "aqi": 51}])
    line = (
        r'msg="Feed lost, reconnecting" .* reason=idle err="no whole message within '
        r'--feed.idle-timeout 2s, messages before: 3 in \w+"'
    )
    wait_for(lambda: any(re.search(line, each) for each in exporter.errors), "the disconnect")


def test_a_reload_that_changes_nothing_says_so(start, tmp_path):
    web, feeds = tmp_path / "web.yml", tmp_path / "feeds.yml"
    web.write_text("http_server_config: {headers: {X-Frame-Options: deny}}")
    feeds.write_text("- url: ws://127.0.0.1:1/")
    exporter = start.exporter(
        "--feed.file", str(feeds), "--web.config.file", str(web), "--web.enable-lifecycle"
    )
    assert exporter.get("/-/reload", "POST").status == 200
    wait_for(lambda: exporter.count_lines('msg="Web configuration unchanged"'), "the second line")
    assert (
        exporter.count_lines('msg="Feeds unchanged"')
        == exporter.count_lines('msg="Web configuration unchanged"')
        == 1
    )
    assert not exporter.count_lines("loaded")
    none = start.exporter(DEMO, "--web.enable-lifecycle")
    page = none.scrape()
    assert page.value("airquality_exporter_config_last_reload_successful") == 1
    started = page.value("airquality_exporter_config_last_reload_success_timestamp_seconds")
    assert abs(started - page.value("process_start_time_seconds")) < 5
    assert none.get("/-/reload", "POST").status == 200
    wait_for(lambda: none.count_lines('msg="Nothing to reload: no flag names a file"'), "the line")


def test_a_changed_web_configuration_is_a_reload_too(start, tmp_path):
    web = tmp_path / "web.yml"
    good = "http_server_config: {headers: {X-Frame-Options: deny}}"
    web.write_text(good)
    exporter = start.exporter(DEMO, "--web.config.file", str(web))
    family = "airquality_exporter_config_last_reload_success"
    began = exporter.scrape().value(f"{family}_timestamp_seconds")
    web.write_text("nonsense: {}")
    wait_for(lambda: exporter.scrape().value(f"{family}ful") == 0, "the bad file")
    assert exporter.scrape().value(f"{family}_timestamp_seconds") == began
    web.write_text(good)
    wait_for(lambda: exporter.scrape().value(f"{family}ful") == 1, "the repaired file")
    assert exporter.scrape().value(f"{family}_timestamp_seconds") > began


def test_a_good_web_configuration_does_not_hide_bad_feeds(start, tmp_path):
    web, feeds = tmp_path / "web.yml", tmp_path / "feeds.yml"
    web.write_text("http_server_config: {headers: {X-Frame-Options: deny}}")
    feeds.write_text("- url: ws://127.0.0.1:1/")
    exporter = start.exporter(
        "--feed.file", str(feeds), "--web.config.file", str(web), "--web.enable-lifecycle"
    )
    feeds.write_text("- name: nothing")
    assert exporter.get("/-/reload", "POST").status == 500
    web.write_text("http_server_config: {headers: {X-Frame-Options: sameorigin}}")
    wait_for(
        lambda: exporter.get("/-/healthy").headers["X-Frame-Options"] == "sameorigin",
        "the new header",
    )
    assert exporter.scrape().value("airquality_exporter_config_last_reload_successful") == 0
    feeds.write_text("- url: ws://127.0.0.1:1/")
    assert exporter.get("/-/reload", "POST").status == 200
    assert exporter.scrape().value("airquality_exporter_config_last_reload_successful") == 1
