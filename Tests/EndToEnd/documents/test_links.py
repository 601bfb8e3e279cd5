"""Every relative link and anchor in the documents resolves, and the files they name exist."""

import fnmatch
import pathlib
import re
import urllib.parse

import pytest

from support.commands import run

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
FILES = run("git", "ls-files", cwd=REPOSITORY).split()
FILES = [name for name in FILES if (REPOSITORY / name).exists()]
DOCUMENTS = [REPOSITORY / name for name in FILES if name.endswith(".md")]
PLACES = {*FILES, *(str(folder) for name in FILES for folder in pathlib.PurePath(name).parents)}
FOLDERS = {pathlib.PurePath(place).name for place in PLACES}
SUFFIXES = {pathlib.PurePath(name).suffix for name in FILES} - {""}

BLOCK = re.compile(r"^(\s*)(```|~~~).*?^\s*\2\s*$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
LINK = re.compile(
    r"\]\(<?([^()\s>]+(?:\([^()]*\))?)>?(?:\s+\"[^\"]*\")?\)"
    r"|^\[[^\]]+\]:\s+(\S+)"
    r"|(?:src|href|srcset)=\"([^\"]+)\"",
    re.MULTILINE,
)

each_document = pytest.mark.parametrize(
    "path", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY))
)


def links(text: str) -> list[str]:
    prose = INLINE.sub("``", BLOCK.sub("", text))
    return [next(filter(None, match)) for match in LINK.findall(prose)]


def anchors(path: pathlib.Path) -> set[str]:
    """The anchors of the headings, as GitHub makes them."""
    text = BLOCK.sub("", path.read_text())
    found = re.findall(r'<a (?:id|name)="([^"]+)"', text)
    for heading in re.findall(r"^#{1,6} (.+?)\s*#*$", text, re.MULTILINE):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        found.append(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
    return set(found)


def dead(path: pathlib.Path, link: str) -> str | None:
    url = urllib.parse.urlsplit(link)
    if url.scheme or url.netloc:
        return None
    target = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
    if not target.is_relative_to(REPOSITORY):
        return f"{link}: outside of the repository"
    if not target.exists():
        return f"{link}: no such file"
    if url.fragment and target.suffix == ".md" and url.fragment not in anchors(target):
        return f"{link}: no such heading"
    return None


def named(text: str) -> list[str]:
    """Names in back-ticks that can only be a file or folder here, or the end of its path."""
    found = re.findall(r"(?<!`)`([\w.*-][\w.@*/-]*)`(?!`)", BLOCK.sub("", text))
    return [
        name.rstrip("/")
        for name in found
        if not name.startswith(("build/", "--"))
        and (
            (pathlib.PurePath(name).suffix in SUFFIXES and pathlib.PurePath(name).stem.strip("*"))
            or ("/" in name and name.split("/")[0] in FOLDERS)
        )
    ]


def is_there(name: str) -> bool:
    """A Swift file may be named without its suffix."""
    patterns = [name, name + ".swift", "*/" + name, "*/" + name + ".swift"]
    return any(fnmatch.fnmatchcase(place, pattern) for place in PLACES for pattern in patterns)


@each_document
def test_relative_links_and_anchors_resolve(path):
    problems = [dead(path, link) for link in links(path.read_text())]
    assert [problem for problem in problems if problem] == []


@each_document
def test_files_named_in_back_ticks_exist(path):
    assert [name for name in named(path.read_text()) if not is_there(name)] == []
