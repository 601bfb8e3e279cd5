"""Completion in real shells at a terminal: what Tab completes, and what it offers."""

import shutil

import pytest

from support.commands import run
from support.shells import Bash, Fish, Zsh, path_to

EXPORTER, FEED = "air-quality-exporter", "air-quality-feed"
GENERAL = ["--completion", "--help", "--version"]
COMMANDS = ["poll", "record", "replay", "simulate"]


@pytest.fixture(scope="module")
def scripts(programs) -> dict[tuple[str, str], str]:
    """The completion script that each program prints for each shell."""
    found = {}
    for program in (EXPORTER, FEED):
        for shell in ("bash", "zsh", "fish"):
            ended = programs.run(program, "--completion", shell)
            assert (ended.process.returncode, ended.errors) == (0, [])
            found[program, shell] = "\n".join(ended.output) + "\n"
    return found


@pytest.fixture(scope="module", params=[Bash, Zsh, Fish], ids=lambda kind: kind.__name__.lower())
def shell(request, programs, scripts, tmp_path_factory):
    name = request.param.__name__.lower()
    if not shutil.which(name):
        pytest.skip(f"no {name} here")
    folder = tmp_path_factory.mktemp(name)
    running = request.param(
        {program: scripts[program, name] for program in (EXPORTER, FEED)}, folder, programs
    )
    yield running
    running.close()


@pytest.fixture(scope="module")
def offered(shell, programs, scripts, tmp_path_factory):
    """The sorted offers of a shell at the end of a line; after `--flag=`, only the values."""
    folder = tmp_path_factory.mktemp("offered")
    for program in (EXPORTER, FEED):
        (folder / program).write_text(scripts[program, "fish"])

    def by_keys(line: str) -> list[str]:
        given = line.split()[1:]
        words = shell.keys(line + shell.EVERY)
        unfinished = [] if line.endswith(" ") else [given.pop()]
        assert words[: len(given)] == given, words
        flag, sign, _ = unfinished[0].partition("=") if unfinished else ("", "", "")
        offers = words[len(given) :]
        if sign:
            return sorted(word.removeprefix(f"{flag}=") for word in offers)
        return sorted(word.removesuffix("=") for word in offers)

    def by_fish(line: str) -> list[str]:
        command = f"source '{folder / line.split()[0]}'; complete --do-complete '{line}'"
        offers = run("fish", "--no-config", "-c", command, env=path_to(programs))
        words = {each.partition("\t")[0] for each in offers.splitlines()}
        last = "" if line.endswith(" ") else line.split()[-1]
        if "=" in last:
            return sorted(word.removeprefix(last.partition("=")[0] + "=") for word in words)
        return sorted({word.removesuffix("=") for word in words}) or ([last] if last else [])

    return by_fish if isinstance(shell, Fish) else by_keys


@pytest.mark.parametrize(
    "line, words",
    [
        (f"{FEED} simu\t--cit\t", ["simulate", "--cities="]),
        (f"{FEED} poll --sou\twa\t--set=in\t", ["poll", "--source=waqi", "--set=india"]),
        (f"{FEED} poll --source wa\t", ["poll", "--source", "waqi"]),
        (
            f"{FEED} replay --listen 127.0.0.1:1 --on\t",
            ["replay", "--listen", "127.0.0.1:1", "--once"],
        ),
        (f"{EXPORTER} --log.lev\tdeb\t", ["--log.level=debug"]),
        (f"{EXPORTER} health\t--web.lis\t", ["healthcheck", "--web.listen-address="]),
        (
            f"{EXPORTER} --feed.url ws://me:pw@host/?a=b --feed.de\t",
            ["--feed.url", "ws://me:pw@host/?a=b", "--feed.demo"],
        ),
        (f"{EXPORTER} --web.enable-lifecycle=tr\t", ["--web.enable-lifecycle=true"]),
    ],
)
def test_tab_completes_unambiguous_words(shell, line, words):
    found = shell.keys(line.replace("?", "\\?"))
    if not isinstance(shell, Bash):
        # These shells put a space or an equals sign between a flag and its value, and remove the
        # sign when nothing follows.
        words, found = (" ".join(each).replace("=", " ").split() for each in (words, found))
    assert found == words


@pytest.mark.parametrize(
    "line", ["replay {}\t", "poll --cities {}\t", "poll --cities={}\t", "record --output {}\t"]
)
def test_tab_completes_file_names(shell, tmp_path, line):
    (tmp_path / "of cities.csv").touch()
    started = f"{tmp_path}/of"
    words = shell.keys(f"{FEED} {line.format(started)}")
    assert words == line.format(f"{tmp_path}/of\0cities.csv").rstrip().replace("\0", " ").split(
        " ", line.count(" ")
    )


# ProgramTests has more cases.
@pytest.mark.parametrize(
    "line, words",
    [
        (f"{FEED} ", COMMANDS),
        (f"{FEED} re", ["record", "replay"]),
        (f"{FEED} poll --source ", ["cpcb", "json", "open-meteo", "openaq", "waqi"]),
        (f"{FEED} poll --source=", ["cpcb", "json", "open-meteo", "openaq", "waqi"]),
        (f"{FEED} replay --once=", ["false", "true"]),
        (f"{FEED} replay --once --speed ", []),
        (f"{FEED} replay --once --on", ["--on"]),
        (f"{FEED} replay --speed 2 --listen=:1 --", sorted(["--interval", "--once", *GENERAL])),
        (f"{EXPORTER} ", ["healthcheck", "probe"]),
        (f"{EXPORTER} --aqi.scale=", ["eu", "india", "us"]),
        # Repeatable flags are offered again, others are not.
        (f"{EXPORTER} --feed.url ws://a/ --feed.u", ["--feed.url"]),
        (
            f"{EXPORTER} --feed.url=ws://a/ --feed.header=a --feed.header-file=b --feed.h",
            ["--feed.header"],
        ),
    ],
)
def test_only_words_that_fit_the_context_are_offered(offered, line, words):
    assert offered(line) == words


def test_every_flag_in_the_help_is_offered(offered, programs):
    commands = [(EXPORTER, each) for each in ("", "healthcheck", "probe")]
    for program, command in [*commands, *((FEED, each) for each in COMMANDS)]:
        listed = programs.run(program, *command.split(), "--help").output
        flags = sorted(line.strip().partition("=")[0] for line in listed if line.startswith("  --"))
        assert offered(f"{program} {command} --".replace("  ", " ")) == flags
