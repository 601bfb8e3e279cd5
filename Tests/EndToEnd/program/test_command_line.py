"""Flags, environment variables, `--version`, and the exit on signals. The texts of the flags are in
ReadmeTests and HelpTests."""

import pathlib
import platform
import re
import signal

import pytest

from support.waiting import wait_for

EXPORTER, FEED = "air-quality-exporter", "air-quality-feed"

README = pathlib.Path(__file__).parents[3] / "Sources/Exporter/AirQualityExporter/README.md"
#: Every flag of the exporter in the README's table.
ROW = re.compile(r"^\| `--([a-z.-]+)(?: [^`]+)?`(?: \(repeatable\))? \| \S+ \|", re.MULTILINE)
FLAGS = ROW.findall(README.read_text())
#: The flags of a connection to a feed, which `record` shares.
CONNECTION = {
    name.removeprefix("feed.")
    for name in FLAGS[FLAGS.index("feed.header") : FLAGS.index("feed.pause-when-unused")]
}
#: Flags that take any text, so that no value is rejected at the start.
FREE = {"feed.subscribe", "storage.file"} | {name for name in FLAGS if name.endswith("-field")}
#: Flags that name a file that is read at the start.
READ = {"web.config.file"}


def variable(flag: str) -> str:
    return "AIR_QUALITY_EXPORTER_" + re.sub(r"[.-]", "_", flag).upper()


@pytest.mark.parametrize("flag", [name for name in FLAGS if name not in FREE])
def test_every_flag_and_its_variable_reject_an_invalid_value(programs, flag):
    """This shows that both are read."""
    bad = "/no/such/\x01" if flag in READ else "\x01"
    others = {"--feed.url=ws://127.0.0.1:1/": "feed.url", "--config.check": "config.check"}
    good = [other for other, name in others.items() if name != flag]
    by_flag = programs.rejection(EXPORTER, *good, f"--{flag}={bad}")
    assert by_flag.startswith(f"{EXPORTER}: --{flag}")
    by_variable = programs.rejection(EXPORTER, *good, environment={variable(flag): bad})
    assert by_variable.startswith(f"{EXPORTER}: {variable(flag)}")


def test_a_value_that_begins_with_an_invisible_character_is_not_ignored(programs):
    environment = {variable("log.level"): "\u200dinfo"}
    assert "expected debug" in programs.rejection(EXPORTER, "--feed.demo", environment=environment)


@pytest.mark.parametrize("program", [EXPORTER, FEED])
def test_version_names_version_branch_and_revision(programs, program):
    ended = programs.run(program, "--version")
    assert (ended.process.returncode, ended.errors) == (0, [])
    # As `git describe` prints it: only the commit if there is no tag.
    version = r"(\d+\.\d+\.\d+\S*|[0-9a-f]{7,40}(-dirty)?)"
    form = rf"{program}, version {version} \(branch: \S+, revision: [0-9a-f]{{7,40}}\)"
    assert re.fullmatch(form, ended.output[0]), ended.output


def test_version_is_formatted_like_that_of_other_exporters(programs):
    """Like `version.Print` of prometheus/common, with Swift in place of Go."""
    _, *lines = programs.run(EXPORTER, "--version").output
    fields = dict(re.fullmatch(r"  ([a-z ]+:) +(\S.*)", line).groups() for line in lines)
    assert {line.index(value) for line, value in zip(lines, fields.values())} == {20}
    machine = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
    assert re.fullmatch(r"\d+\.\d+\S*", fields.pop("swift version:"))
    assert fields == {"platform:": f"linux/{machine}"}


def test_the_build_info_metric_agrees_with_the_version_flag(start, programs):
    first, swift, _ = programs.run(EXPORTER, "--version").output
    said = re.search(
        r"version (?P<version>\S+) \(branch: (?P<branch>\S+), revision: (?P<revision>\S+)\)", first
    ).groupdict()
    page = start.exporter("--feed.demo").scrape()
    labels = said | {"swiftversion": swift.split()[-1]}
    assert page.samples("airquality_exporter_build_info") == [(labels, 1)]


@pytest.mark.parametrize("command", [[], ["simulate"], ["replay"], ["record"]])
def test_help_of_a_feed_command_lists_exactly_its_flags(programs, command):
    ended = programs.run(FEED, *command, "--help")
    assert (ended.process.returncode, ended.errors) == (0, [])
    usage = {"replay": "replay FILE [flags]", "record": "record URL [flags]"}
    assert ended.output[0] == f"usage: {FEED} {usage.get(''.join(command), '[simulate] [flags]')}"
    wanted = {
        "simulate": {"listen", "cities", "interval", "coverage", "seed", "drift", "batch"},
        "replay": {"listen", "interval", "speed", "once"},
        "record": {"output", "log.level", "log.format"} | CONNECTION,
    }["".join(command) or "simulate"]
    found = re.findall(r"^  --([a-z.-]+)(?:=|$)", "\n".join(ended.output), re.MULTILINE)
    assert set(found) == wanted | {"help", "version"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_sigterm_and_sigint_end_the_exporter_with_status_0(start, python_feed, number):
    exporter = start.reader(python_feed)
    client = python_feed.clients[0]
    exporter.signal(number)
    assert exporter.wait() == 0
    wait_for(lambda: client.protocol.close_code == 1001, "the close frame")


@pytest.mark.parametrize("program, command", [(EXPORTER, "--feed.demo"), (FEED, "simulate")])
def test_arguments_and_variables_that_are_not_utf_8_are_rejected(programs, program, command):
    """A repaired text would name another file, or send another header."""
    line = programs.rejection(program, command, "--log.level", "inf\udcff")
    assert line == f"{program}: argument 3, which follows --log.level: expected UTF-8"
    line = programs.rejection(program, command, "secret", "--log.level=\udcff")
    assert line == f"{program}: argument 3: expected UTF-8"
    name = program.upper().replace("-", "_") + "_LOG_LEVEL"
    line = programs.rejection(program, command, environment={name: "inf\udcff"})
    assert line == f"{program}: {name}: expected UTF-8"
    # A variable of another program is not this one's business.
    ended = programs.run(program, "--version", environment={"OTHER": "\udcff"})
    assert (ended.process.returncode, ended.errors) == (0, [])


def test_the_level_of_warnings_has_its_other_name_as_well(programs):
    ended = programs.run(EXPORTER, "--feed.demo", "--config.check", "--log.level=warning")
    assert (ended.process.returncode, ended.output) == (0, ["configuration is valid"])
