"""What people read is in plain technical English: words that the documents, the help and the log once had are not back."""

import pathlib
import re
import subprocess

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
LISTED = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.split()
AVOIDED = re.compile(
    r"for ever\b|\bwhoever\b|\b(hang|hung|hangs|hanging) up\b|\bwhat is no\b|\bthe bridge\b|\bheard of\b|real air\b(?! quality)|\bas it came\b",
    re.IGNORECASE,
)
TEXTS = [name for name in LISTED if name.endswith(".md") or name == "Makefile" or name.startswith(("docker/", "grafana/"))]


def avoided(text: str) -> list[str]:
    return [match[0] for match in AVOIDED.finditer(" ".join(text.split()))]


def test_documents_have_plain_words():
    paths = [REPOSITORY / name for name in TEXTS]
    texts = {path: path.read_text(errors="ignore") for path in paths if path.is_file() and not path.is_symlink()}
    assert {path.name: found for path, text in texts.items() if (found := avoided(text))} == {}


@pytest.mark.parametrize("command", [["air-quality-exporter"], *(["air-quality-feed", each] for each in ("simulate", "replay", "poll", "relay", "record"))])  # fmt: skip
def test_help_has_plain_words(programs, command):
    lines = programs.run(*command, "--help").output
    assert len(lines) > 5 and avoided("\n".join(lines)) == []


def test_texts_of_the_programs_have_plain_words():
    """Those in quotes: lines of the log, errors, HELP, the page."""
    found = {}
    for name in LISTED:
        if name.startswith("Sources/") and name.endswith(".swift") and (REPOSITORY / name).is_file():
            code = "\n".join(line for line in (REPOSITORY / name).read_text().splitlines() if not line.lstrip().startswith("//"))
            texts = re.findall(r'"""(.*?)"""|"((?:[^"\\\n]|\\.)*)"', code, re.DOTALL)
            if words := avoided(" ".join(long or short for long, short in texts)):
                found[name] = words
    assert found == {}


def test_avoided_words_are_found():
    assert avoided("It hangs\nup for ever, whoever asks; real air quality is fine, real air is not") == [
        "hangs up", "for ever", "whoever", "real air",
    ]  # fmt: skip
