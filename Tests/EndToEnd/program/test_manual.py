"""The manual pages of the packages, checked with the programs that read them."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess

import pytest

from support.waiting import wait_for

REPOSITORY = pathlib.Path(__file__).parents[3]
EXPORTER, FEED = "air-quality-exporter", "air-quality-feed"


@pytest.fixture(scope="module", params=[EXPORTER, FEED])
def page(request, programs, tmp_path_factory):
    """The path of a program's manual page, which is named after the program."""
    if not shutil.which("help2man"):
        pytest.skip("no help2man here")
    command = [REPOSITORY / "docker/debian/manual", programs.folder / request.param]
    path = tmp_path_factory.mktemp("man") / f"{request.param}.1"
    path.write_text(run(*command, **os.environ, SOURCE_DATE_EPOCH="1795340000"))
    return path


def run(*command: object, **environment: str) -> str:
    """The output of a tool for manual pages, which must not complain."""
    if not shutil.which(command[0]):
        pytest.skip(f"no {command[0]} here")
    given = {"PATH": "/usr/bin:/bin"} | environment
    ended = subprocess.run(command, capture_output=True, text=True, env=given)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
    return ended.stdout


@pytest.mark.parametrize(
    "device, locale", [("utf8", "C.UTF-8"), ("ascii", "C"), ("html", "C.UTF-8")]
)
def test_man_renders_the_page_without_a_warning(page, device, locale):
    if device == "html" and not shutil.which("post-grohtml"):
        pytest.skip("no groff with HTML here")
    assert page.stem in run("man", "--warnings", "--local-file", f"-T{device}", page, LC_ALL=locale)


def test_mandoc_reports_no_errors(page):
    assert run("mandoc", "-T", "lint", "-W", "error", page) == ""


def test_whatis_can_read_the_name_of_the_page(page):
    assert run("lexgrog", page).startswith(f'{page}: "{page.stem} - ')


def test_the_page_has_every_flag_of_the_help_and_the_usual_sections(page, programs):
    """Both texts come from one table of flags, defaults and descriptions."""
    text = re.sub(r".\x08", "", run("mandoc", "-T", "utf8", "-O", "width=200", page))
    read = " ".join(text.split())
    commands = [[]] if page.stem == EXPORTER else [["simulate"], ["replay"], ["poll"], ["record"]]
    for command in commands:
        for line in programs.run(page.stem, *command, "--help").output:
            if line.startswith("  --"):
                assert line.strip() in read
    sections = re.findall(r"^[A-Z][A-Z ]+$", text, re.MULTILINE)
    wanted = {"NAME", "SYNOPSIS", "DESCRIPTION", "ENVIRONMENT", "FILES", "EXIT STATUS", "SIGNALS"}
    assert wanted | {"EXAMPLES", "SEE ALSO"} <= {*sections}


def test_every_example_command_line_is_accepted(page, programs, tmp_path):
    (tmp_path / "feed.jsonl").write_text('{"time_ms":1,"message":"[]"}\n')
    (tmp_path / "web.yml").touch()
    roff = page.read_text().replace("\\-", "-").replace("\\(aq", "'").replace("\\e\n", " ")
    examples = "".join(re.findall(r"^\.EX\n(.*?)^\.EE", roff, re.MULTILINE | re.DOTALL))
    calls = [
        shlex.split(line.removesuffix(" &"))
        for line in examples.splitlines()
        if line.startswith("air-quality-")
    ]
    assert len(calls) >= 4
    # The package creates this folder, which --config.check examines.
    elsewhere = {"/var/lib/air-quality-exporter": str(tmp_path)}
    elsewhere["https://air.example"] = "http://127.0.0.1:1"
    for program, *arguments in calls:
        for place, other in elsewhere.items():
            arguments = [each.replace(place, other) for each in arguments]
        arguments = [
            str(tmp_path / each) if (tmp_path / each).is_file() else each for each in arguments
        ]
        if arguments[:1] == ["probe"]:
            with programs.feed() as simulated:
                ended = programs.run(program, "probe", simulated.url, *arguments[2:])
            assert ended.process.returncode == 0, arguments
        elif program == EXPORTER:
            feed = [] if {"--feed.url", "--feed.demo"} & set(arguments) else ["--feed.demo"]
            own = ("healthcheck", "--ready", "--config.check")
            others = [each for each in arguments if each not in own]
            ended = programs.run(program, *others, *feed, "--config.check")
            assert ended.output == ["configuration is valid"], arguments
        elif arguments[0] == "record":
            recorded = f"--output={tmp_path / 'recorded'}"
            with programs.start(program, *arguments[:2], recorded) as running:
                wait_for(lambda: running.errors, "the line that says that the feed is not there")
        else:
            is_polled = arguments[0] == "poll" and "--url" not in arguments
            nowhere = ["--base-url=http://127.0.0.1:1"] if is_polled else []
            assert programs.feed(*arguments, *nowhere).stop() is None
