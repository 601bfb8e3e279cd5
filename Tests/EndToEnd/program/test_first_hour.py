"""Mistakes that new users make, and the messages that help them."""

import html
import re
import signal

import pytest

from support.waiting import wait_for

EXPORTER, FEED = "air-quality-exporter", "air-quality-feed"
DEMO = "--feed.demo"


@pytest.mark.parametrize(
    ("program", "arguments", "said"),
    [
        # Unit tests cover the wording of each kind; here, one of each reaches standard error.
        (EXPORTER, ["--config.file=x"], r'unknown flag "--config.file": there is no conf.*'),
        (EXPORTER, ["poll", "--key=secret"], r'unexpected argument "poll": a command of the .*'),
        (FEED, ["healthcheck"], r'unexpected argument "healthcheck": a command of the other .*'),
        (
            EXPORTER,
            ["ws://me:secret@h/?token=secret"],
            r".* did you mean --feed.url \"ws://\*\*\*@h/\?\*\*\*\"\?",
        ),
        (EXPORTER, [], r"no feed: give --feed.url ADDRESS, or --feed.demo for a simulated one"),
    ],
)
def test_a_mistake_is_rejected_with_one_line_without_secrets(programs, program, arguments, said):
    line = programs.rejection(program, *arguments)
    assert re.fullmatch(f"{program}: {said}", line) and "secret" not in line, line


@pytest.mark.parametrize(
    ("program", "command", "variable", "value", "said"),
    [
        (EXPORTER, "probe", "FEED_RECONNECT_MIN", "1m", "expected at most --feed.reconnect-max.*"),
        (FEED, "record", "CA_FILE", "/none", "expected certificates of authorities in PEM: .*"),
    ],
)
def test_a_mistake_in_a_variable_is_reported_as_given(
    programs, program, command, variable, value, said
):
    variable = f"{'AIR_QUALITY_EXPORTER' if program == EXPORTER else 'AIR_QUALITY_FEED'}_{variable}"
    line = programs.rejection(program, command, "ws://x/", environment={variable: value})
    assert re.fullmatch(f'{program}: {variable} "{value}": {said}', line), line


def test_a_misspelt_variable_is_named_if_no_feed_is_configured(programs):
    variable = "AIR_QUALITY_EXPORTER_FEED_ULR"
    line = programs.rejection(EXPORTER, environment={variable: "ws://x/"})
    assert line.endswith(f"; unknown environment variable: {variable}")


SOMEWHERE, UNVERIFIED = "--feed.url=ws://127.0.0.1:1/", "--feed.insecure-skip-verify"
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
        ([DEMO, SOMEWHERE], {}, [r"Simulated readings are mixed.* flag=--feed.demo"]),
        ([SOMEWHERE, UNVERIFIED], {}, [r"is wss://.*--feed.insecure-skip-verify"]),
        (["--feed.url=wss://127.0.0.1:1/", UNVERIFIED], {}, [rf"not verified.* flag={UNVERIFIED}"]),
        (
            ["file", "- {url: 'ws://127.0.0.1:1/', insecure-skip-verify: true}"],
            {},
            [r"is wss://.*--feed.insecure-skip-verify"],
        ),
    ],
)
def test_a_probable_mistake_in_the_configuration_logs_a_warning(
    programs, start, tmp_path, arguments, environment, warnings
):
    if arguments[0] == "file":
        (tmp_path / "feeds.yml").write_text(arguments[1])
        arguments = [f"--feed.file={tmp_path / 'feeds.yml'}", *arguments[2:]]
    check = programs.run(EXPORTER, *arguments, "--config.check", environment=environment)
    assert (check.process.returncode, check.output) == (0, ["configuration is valid"])
    running = start.exporter(*arguments, environment=environment)
    running.wait_for_line("Connecting to feed")
    started = [line for line in running.lines("level=WARN") if "unreachable" not in line]
    for lines in (check.errors, started):
        assert len(lines) == len(warnings), lines
        assert all(map(re.search, warnings, lines)), lines


def test_the_log_summarises_the_configuration_before_connecting_to_feeds(start, programs, tmp_path):
    (tmp_path / "feeds.yml").write_text("- url: ws://127.0.0.1:1/\n- url: ws://127.0.0.1:2/\n")
    files = (f"--storage.file={tmp_path / 'readings.sqlite'}", f"--feed.file={tmp_path}/feeds.yml")
    exporter = start.exporter(DEMO, "--aqi.scale=eu", *files)
    exporter.wait_for_line('msg="Feed connected" feed=demo')
    # A failed start logs one line only, so this line comes after the storage file is open.
    created, first = exporter.errors[:2]
    assert 'msg="Storage file created"' in created
    assert re.search(
        r'level=INFO msg="Starting air-quality-exporter" version=\S+ revision=\S+ '
        r"scale=eu feeds=3 storage=/\S+$",
        first,
    ), first
    assert exporter.count_lines('level=INFO msg="Connecting to feed" feed=demo') == 1


def test_rejected_readings_are_explained(start, python_feed):
    """In the log, on the health path and on the page; FeedTests covers more wordings."""
    message = [{"station": {"name": "Pune"}, "data": {"a/b": {"aqi": [51]}}}]
    flags = ["--feed.city-field=/station/name", "--feed.value-field=/data/a~1b/aqi/0"]
    exporter = start.reader(python_feed)
    for _ in range(3):
        python_feed.send(message)
    exporter.wait_for_sample("airquality_exporter_feed_messages_total", 3)
    exporter.wait_for_line("Readings rejected")
    (line,) = exporter.lines("Readings rejected")
    probe = "air-quality-exporter probe ADDRESS"
    said = f'reason=no_city rejected=1 accepted=0 members="station,data" hint="{probe}"'
    assert line.endswith(f'level=WARN msg="Readings rejected" feed={python_feed.url} {said}')
    ready = exporter.get("/-/ready")
    assert ready.status == 503
    assert ready.text.splitlines() == [
        "no fresh reading",
        f'{python_feed.url}: rejected: 3 × no_city members="station,data"; try: {probe}',
    ]
    # The page says why, but without the address, which its readers must not learn.
    page = html.unescape(exporter.get("/").text)
    assert "<strong>Connected, no readings yet.</strong>" in page
    assert "no_city" in page and probe in page
    assert "127.0.0.1" not in page
    other = start.exporter("--feed.url", python_feed.url, *flags)
    python_feed.wait_for_client(2)
    python_feed.send(message)
    other.wait_for_sample("airquality_index", 51, city="Pune")
    assert other.get("/-/ready").status == 200 and not other.count_lines("Readings rejected")
    # One good reading is enough to be ready.
    python_feed.send([{"city": "Pune", "aqi": 51}])
    wait_for(lambda: exporter.get("/-/ready").status == 200, "readiness")
    assert all("are rejected" not in exporter.get(path).text for path in ("/", "/about"))


NOT_TLS = (
    r"reason=tls err=.*wrong version number: "
    r"the server does not speak TLS, did you mean ws://\?\"?$"
)


NO_ENDPOINT = r'reason=handshake err="status {} instead of 101: not a WebSocket endpoint'
# libmicrohttpd 1 sends nothing to a client that speaks TLS; the response of 0.9.75 may be lost,
# because it closes the connection at once.
ENDED_TLS = r'err=".*(does|may) not speak TLS.*"'


@pytest.mark.parametrize(
    "kind, scheme, path, said",
    [
        ("feed", "wss", "/", NOT_TLS),
        ("exporter", "wss", "/", ENDED_TLS),
        ("exporter", "ws", "/metrics", NO_ENDPOINT.format(200)),
        ("exporter", "ws", "/nothing", NO_ENDPOINT.format(404)),
    ],
    ids=["feed without TLS", "exporter without TLS", "200", "404"],
)
def test_the_address_of_something_other_than_a_feed_is_recognised(start, kind, scheme, path, said):
    port = (start.feed() if kind == "feed" else start.exporter(DEMO)).port
    exporter = start.exporter("--feed.url", f"{scheme}://127.0.0.1:{port}{path}")
    line = exporter.wait_for_match(f"(.*{said}.*)", exporter.errors)
    words = re.search('err="?(.*?)"?( server_message=.*)?$', line)[1]
    assert words in exporter.get("/-/ready").text


@pytest.fixture
def files(tmp_path):
    """A valid web configuration and feed file, and the flags for both."""
    web, feeds = tmp_path / "web.yml", tmp_path / "feeds.yml"
    web.write_text(WEB)
    feeds.write_text("- url: ws://127.0.0.1:1/")
    flags = ("--feed.file", str(feeds), "--web.config.file", str(web), "--web.enable-lifecycle")
    return web, feeds, flags


WEB = "http_server_config: {headers: {X-Frame-Options: deny}}"
RELOAD = "airquality_exporter_config_last_reload_success"


def test_a_reload_that_changes_nothing_says_so(start, files):
    exporter = start.exporter(*files[2])
    assert exporter.get("/-/reload", "POST").status == 200
    exporter.wait_for_line('msg="Web configuration unchanged"', 1)
    assert exporter.count_lines('msg="Feeds unchanged"') == 1
    assert not exporter.count_lines("loaded")
    none = start.exporter(DEMO, "--web.enable-lifecycle")
    page = none.scrape()
    assert page.value(f"{RELOAD}ful") == 1
    started = page.value(f"{RELOAD}_timestamp_seconds")
    assert abs(started - page.value("process_start_time_seconds")) < 5
    assert none.get("/-/reload", "POST").status == 200
    none.signal(signal.SIGHUP)
    none.wait_for_line('msg="Nothing to reload: no flag names a file"', 2)


def test_a_changed_web_configuration_counts_as_a_reload_in_the_metrics(start, files):
    web, _, flags = files
    exporter = start.exporter(*flags)
    began = exporter.scrape().value(f"{RELOAD}_timestamp_seconds")
    web.write_text("nonsense: {}")
    exporter.wait_for_sample(f"{RELOAD}ful", 0)
    assert exporter.scrape().value(f"{RELOAD}_timestamp_seconds") == began
    web.write_text(WEB)
    exporter.wait_for_sample(f"{RELOAD}ful", 1)
    assert exporter.scrape().value(f"{RELOAD}_timestamp_seconds") > began


def test_a_valid_web_configuration_does_not_hide_an_invalid_feed_file(start, files):
    web, feeds, flags = files
    exporter = start.exporter(*flags)
    feeds.write_text("- name: nothing")
    assert exporter.get("/-/reload", "POST").status == 500
    web.write_text(WEB.replace("deny", "sameorigin"))
    header = "X-Frame-Options"
    wait_for(lambda: exporter.get("/").headers[header] == "sameorigin", "the new header")
    assert exporter.scrape().value(f"{RELOAD}ful") == 0
    feeds.write_text("- url: ws://127.0.0.1:1/")
    assert exporter.get("/-/reload", "POST").status == 200
    assert exporter.scrape().value(f"{RELOAD}ful") == 1
