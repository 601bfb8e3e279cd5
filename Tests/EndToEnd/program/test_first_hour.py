"""The mistakes of the first hour: what was typed, and what is said."""

import re

import pytest

from support.waiting import wait_for

EXPORTER, FEED = "air-quality-exporter", "air-quality-feed"
DEMO = "--feed.demo"


@pytest.mark.parametrize(
    "program, arguments, said",
    [
        # Addresses and flags that are almost right.
        (EXPORTER, ["ws://feed.example/aqi"],
         r'unexpected argument "ws://feed.example/aqi", did you mean --feed.url "ws://feed.example/aqi"\?'),
        (EXPORTER, ["ws://me:secret@feed.example/?token=secret"], r".* did you mean --feed.url \"ws://\*\*\*@feed.example/\?\*\*\*\"\?"),
        (EXPORTER, ["--url", "ws://x/"], r'unknown flag "--url", did you mean --feed.url\?'),
        (EXPORTER, ["--port", "9000"], r'unknown flag "--port", did you mean --web.listen-address\?'),
        (EXPORTER, ["--listen", ":9000"], r'unknown flag "--listen", did you mean --web.listen-address\?'),
        (EXPORTER, ["--key", "k"], r'unknown flag "--key", did you mean --feed.key-file\?'),
        (EXPORTER, ["-feed.demo"], r'unknown flag "-feed.demo", did you mean --feed.demo\?'),
        (EXPORTER, ["--feed.ulr=ws://x/"], r'unknown flag "--feed.ulr", did you mean --feed.url\?'),
        (EXPORTER, ["--web.listen"], r'unknown flag "--web.listen", did you mean --web.listen-address\?'),
        (EXPORTER, ["health"], r'unexpected argument "health", did you mean healthcheck\?'),
        (FEED, ["simulte"], r'unexpected argument "simulte", did you mean simulate\?'),
        (FEED, ["rec"], r'unexpected argument "rec", did you mean record\?'),
        (FEED, ["poll", "--key", "secret"], r'unknown flag "--key", did you mean --key-file\?'),
        # Values that are almost right.
        (EXPORTER, [DEMO, "--feed.idle-timeout", "60"], r'--feed.idle-timeout "60": expected .*60 has no unit: 60s\?.*'),
        (EXPORTER, [DEMO, "--web.listen-address", "9000"], r'--web.listen-address "9000": expected host:port.*'),
        (EXPORTER, ["--feed.url", "http://x/"], r'--feed.url "http://x/": .*expected a ws:// or wss:// address.*'),
        (EXPORTER, ["--feed.url", "feed.example"], r'--feed.url "feed.example": .*expected a ws:// or wss:// address.*'),
        (EXPORTER, [DEMO, "--aqi.scale", "usa"], r'--aqi.scale "usa": expected india, or us, or eu'),
        (EXPORTER, [DEMO, "--metrics.families", "index,aqi"], r'--metrics.families "aqi": expected index, .*'),
        (EXPORTER, [DEMO, "--storage.file"], r"--storage.file: the value is missing, expected --storage.file=FILE"),
        (EXPORTER, [], r"no feed: give --feed.url ADDRESS, or --feed.demo for a simulated one"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_that_helps(programs, program, arguments, said):
    ended = programs.run(program, *arguments)
    assert (ended.process.returncode, ended.output) == (1, [])
    assert len(ended.errors) == 1 and "secret" not in ended.errors[0]
    assert re.fullmatch(f"{program}: {said}", ended.errors[0]), ended.errors


@pytest.mark.parametrize(
    "arguments",
    [
        ["--log.level", "INFO"], ["--log.level=warning"], ["--log.format=JSON"], ["--aqi.scale", "US"],
        ["--metrics.families", "index,category"], ["--feed.demo", "true"], ["--feed.demo"],
        ["--web.enable-lifecycle", "false"], ["--web.enable-lifecycle=True"],
    ],
)  # fmt: skip
def test_what_is_clear_is_understood(programs, arguments):
    ended = programs.run(EXPORTER, DEMO, *arguments, "--config.check")
    assert (ended.process.returncode, ended.output, ended.errors) == (0, ["configuration is valid"], [])


@pytest.mark.parametrize("program", [EXPORTER, FEED])
def test_help_and_version_are_commands_too(programs, program):
    assert programs.run(program, "help").output == programs.run(program, "--help").output
    assert programs.run(program, "version").output == programs.run(program, "--version").output
    assert programs.run(FEED, "help", "replay").output[0] == "usage: air-quality-feed replay FILE [flags]"


def test_help_of_the_health_check_shows_what_it_uses(programs):
    shown = [line.strip() for line in programs.run(EXPORTER, "healthcheck", "--help").output if line.startswith("  --")]
    assert [line.partition("=")[0] for line in shown] == [
        "--web.listen-address", "--web.config.file", "--help", "--version", "--completion",
    ]  # fmt: skip


KUBERNETES = {"AIR_QUALITY_EXPORTER_PORT": "tcp://10.0.0.1:80", "AIR_QUALITY_EXPORTER_SERVICE_HOST": "10.0.0.1"}


@pytest.mark.parametrize(
    "arguments, environment, warnings",
    [
        ([DEMO], KUBERNETES, []),
        ([DEMO], KUBERNETES | {"AIR_QUALITY_EXPORTER_FEED_ULR": "x", "AIR_QUALITY_EXPORTER_B": "secret"},
         [r'msg="Variables that name no flag are ignored" variables="AIR_QUALITY_EXPORTER_B AIR_QUALITY_EXPORTER_FEED_ULR"']),
        ([DEMO, "--feed.url=ws://127.0.0.1:1/"], {}, [r"Simulated readings are mixed .* flag=--feed.demo"]),
        (["--feed.url=ws://127.0.0.1:1/", "--feed.insecure-skip-verify"], {}, [r"No feed is wss:// .*--feed.insecure-skip-verify"]),
        (["--feed.url=wss://127.0.0.1:1/", "--feed.insecure-skip-verify"], {}, [r"not verified.* flag=--feed.insecure-skip-verify"]),
    ],
)  # fmt: skip
def test_what_is_probably_a_mistake_is_a_warning(programs, start, arguments, environment, warnings):
    check = programs.run(EXPORTER, *arguments, "--config.check", environment=environment)
    assert (check.process.returncode, check.output) == (0, ["configuration is valid"])
    running = start.exporter(*arguments, environment=environment)
    wait_for(lambda: running.count_lines("Connecting to feed"), "the feeds")
    started = [line for line in running.errors if "level=WARN" in line and "unreachable" not in line]
    for lines in (check.errors, started):
        assert len(lines) == len(warnings), lines
        assert all(re.search(warning.replace(" .*", ".*"), line) for warning, line in zip(warnings, lines)), lines


def test_the_log_begins_with_what_was_understood(start, programs, tmp_path):
    exporter = start.exporter(DEMO, "--aqi.scale=eu", f"--storage.file={tmp_path / 'readings.sqlite'}")
    wait_for(lambda: exporter.count_lines('msg="Feed connected" feed=demo'), "the connection")
    first = exporter.errors[0]
    assert re.search(
        r'level=INFO msg="Starting air-quality-exporter" version=\S+ revision=\S+ scale=eu feeds=1 storage=/\S+$', first
    ), first
    assert exporter.count_lines('level=INFO msg="Connecting to feed" feed=demo') == 1


def test_cities_expire_by_default(start):
    assert start.exporter(DEMO).scrape().value("airquality_exporter_city_expiry_seconds") == 6 * 3600
