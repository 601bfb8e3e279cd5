"""The manual pages that packages have, as the programs that read them see them."""

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
DATE = {"SOURCE_DATE_EPOCH": "1795340000"}


@pytest.fixture(scope="module", params=[EXPORTER, FEED])
def page(request, programs, tmp_path_factory):
    """The path of a program's manual page; its name is the program's."""
    if not shutil.which("help2man"):
        pytest.skip("no help2man here")
    command = [REPOSITORY / "docker/debian/manual", programs.folder / request.param]
    ended = subprocess.run(command, capture_output=True, text=True, env=os.environ | DATE)
    assert (ended.returncode, ended.stderr) == (0, "")
    path = tmp_path_factory.mktemp("man") / f"{request.param}.1"
    path.write_text(ended.stdout)
    return path


def run(*command: object, **environment: str) -> str:
    """What a reader of manual pages writes, which must not complain."""
    if not shutil.which(command[0]):
        pytest.skip(f"no {command[0]} here")
    ended = subprocess.run(
        command, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", **environment}
    )
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
    return ended.stdout


@pytest.mark.parametrize(
    "device, locale", [("utf8", "C.UTF-8"), ("ascii", "C"), ("html", "C.UTF-8")]
)
def test_man_renders_it_without_a_warning(page, device, locale):
    if device == "html" and not shutil.which("post-grohtml"):
        pytest.skip("no groff with HTML here")
    assert page.stem in run("man", "--warnings", "--local-file", f"-T{device}", page, LC_ALL=locale)


def test_mandoc_finds_nothing_wrong(page):
    assert run("mandoc", "-T", "lint", "-W", "error", page) == ""


def test_whatis_can_read_it(page):
    assert run("lexgrog", page).startswith(f'{page}: "{page.stem} - ')


def test_it_says_all_that_help_says(page, programs):
    """The text of both is one table: flags, defaults and words."""
    text = run("mandoc", "-T", "utf8", "-O", "width=200", page)
    words = re.sub(r".\x08", "", text).split()
    read = " ".join(words)
    commands = [[]] if page.stem == EXPORTER else [["simulate"], ["replay"], ["poll"], ["record"]]
    for command in commands:
        for line in programs.run(page.stem, *command, "--help").output:
            if line.startswith("  --"):
                assert line.strip() in read
    sections = re.findall(r"^[A-Z][A-Z ]+$", re.sub(r".\x08", "", text), re.MULTILINE)
    assert {
        "NAME",
        "SYNOPSIS",
        "DESCRIPTION",
        "FILES",
        "EXIT STATUS",
        "SIGNALS",
        "EXAMPLES",
        "SEE ALSO",
    } <= {*sections}


def test_examples_are_right(page, programs, tmp_path):
    """Each command line of the examples is one that the program takes."""
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
    for program, *arguments in calls:
        arguments = [
            str(tmp_path / each) if (tmp_path / each).is_file() else each for each in arguments
        ]
        # The package makes this folder, which --config.check looks at.
        arguments = [
            each.replace("/var/lib/air-quality-exporter", str(tmp_path)) for each in arguments
        ]
        if arguments[:1] == ["probe"]:
            simulated = programs.feed("simulate")
            assert (
                programs.run(program, "probe", simulated.url, *arguments[2:]).process.returncode
                == 0
            ), arguments
            assert simulated.stop() is None
        elif program == EXPORTER:
            feed = [] if {"--feed.url", "--feed.demo"} & set(arguments) else ["--feed.demo"]
            check = [] if "--config.check" in arguments else ["--config.check"]
            arguments = [each for each in arguments if each != "healthcheck"]
            assert programs.run(program, *arguments, *feed, *check).output == [
                "configuration is valid"
            ], arguments
        elif arguments[0] == "record":
            running = programs.start(program, *arguments[:2], f"--output={tmp_path / 'recorded'}")
            wait_for(lambda: running.errors, "the line that says that the feed is not there")
            assert running.stop() is None
        else:
            arguments = [
                each.replace("https://air.example", "http://127.0.0.1:1") for each in arguments
            ]
            nowhere = (
                ["--base-url=http://127.0.0.1:1"]
                if arguments[0] == "poll" and "--url" not in arguments
                else []
            )
            running = programs.start(program, *arguments, "--listen=127.0.0.1:0", *nowhere)
            wait_for(lambda: running.output, "the line with the address")
            assert running.output[0].startswith("listening on ws://"), running.errors
            assert running.stop() is None
