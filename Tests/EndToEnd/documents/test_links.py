"""Every relative link and anchor of every document leads somewhere."""

import fnmatch
import pathlib
import re
import subprocess
import urllib.parse

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
TRACKED = subprocess.run(["git", "ls-files", "*.md"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
DOCUMENTS = [REPOSITORY / name for name in TRACKED.split() if (REPOSITORY / name).is_file()]
LINK = re.compile(r"""\]\(<?([^()\s>]+(?:\([^()]*\))?)>?(?:\s+"[^"]*")?\)|^\[[^\]]+\]:\s+(\S+)|(?:src|href|srcset)="([^"]+)\"""", re.MULTILINE)


def prose(text: str) -> str:
    """The text without its code."""
    text = re.sub(r"^(\s*)(```|~~~).*?^\s*\2\s*$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "``", text)


def anchors(path: pathlib.Path) -> set[str]:
    """The anchors of the headings, as GitHub makes them."""
    text = re.sub(r"^(\s*)(```|~~~).*?^\s*\2\s*$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    found: list[str] = re.findall(r'<a (?:id|name)="([^"]+)"', text)
    for heading in re.findall(r"^#{1,6} (.+?)\s*#*$", text, re.MULTILINE):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        times = sum(re.fullmatch(re.escape(slug) + r"(-\d+)?", each) is not None for each in found)
        found.append(f"{slug}-{times}" if times else slug)
    return set(found)


def links(text: str) -> list[str]:
    return [next(filter(None, match)) for match in LINK.findall(prose(text))]


def dead(path: pathlib.Path, link: str) -> str | None:
    url = urllib.parse.urlsplit(link)
    if url.scheme or url.netloc:
        return None
    target = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
    if not target.exists():
        return f"{link}: no such file"
    if not target.is_relative_to(REPOSITORY):
        return f"{link}: outside of the repository"
    if url.fragment and target.suffix == ".md" and url.fragment not in anchors(target):
        return f"{link}: no such heading"
    return None


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_links_lead_somewhere(path):
    assert [problem for link in links(path.read_text()) if (problem := dead(path, link))] == []


def test_what_security_md_names_is_tested():
    """Each row of "What was tried" ends with the names of its tests, in or below hostile/, or suites of the unit tests."""
    part = (REPOSITORY / "SECURITY.md").read_text().split("## What was tried")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| ")][2:]
    assert len(rows) > 15
    suites = "".join(path.read_text() for path in (REPOSITORY / "Tests").glob("*Tests/**/*.swift"))
    end_to_end = REPOSITORY / "Tests" / "EndToEnd"
    for attack, _, tests in rows:
        names = re.findall("`([^`]+)`", tests)
        assert names, attack
        for name in names:
            if name.endswith(".py"):
                assert (end_to_end / ("hostile" if "/" not in name else "") / name).is_file(), name
            else:
                assert f"struct {name}" in suites, name


def test_documents_that_are_named_exist():
    """In comments and texts of other files: `docker/README.md`, "In Kubernetes"."""
    names = subprocess.run(["git", "grep", "-hoE", r"[A-Za-z./:_-]+/[A-Z]+\.md", "--", ":!*.md", ":!Tests"],
                           cwd=REPOSITORY, capture_output=True, text=True).stdout  # fmt: skip
    own = {name.lstrip("./") for name in names.split() if "://" not in name}
    assert {name for name in own if not (REPOSITORY / name).exists()} == set()


FILES = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.split()
PLACES = {*FILES, *(str(folder) for name in FILES for folder in pathlib.PurePath(name).parents)}
SUFFIXES = {pathlib.PurePath(name).suffix for name in FILES} - {""}


def names(text: str) -> list[str]:
    """What the text has between back-ticks that can only be a file or a folder of this repository, or the end of its path."""
    text = re.sub(r"^(\s*)(```|~~~).*?^\s*\2\s*$", "", text, flags=re.MULTILINE | re.DOTALL)
    found = [each.rstrip("/") for each in re.findall(r"(?<!`)`([\w.*-][\w.@*/-]*)`(?!`)", text)]
    folders = {pathlib.PurePath(place).name for place in PLACES}
    return [each for each in found if not each.startswith("build/") and (
        pathlib.PurePath(each).suffix in SUFFIXES and pathlib.PurePath(each).stem.strip("*") or "/" in each and each.split("/")[0] in folders)]  # fmt: skip


def is_there(name: str) -> bool:
    """A file of Swift may be without its suffix."""
    ends = [name, name + ".swift"]
    return any(place == end or fnmatch.fnmatchcase(place, "*/" + end) or fnmatch.fnmatchcase(place, end) for place in PLACES for end in ends)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_files_that_are_named_are_there(path):
    assert [name for name in names(path.read_text()) if not is_there(name)] == []


def test_tests_that_are_named_are_there():
    """As `HTTPLimitsTests.requests…`, in documents."""
    sources = {path.name: path.read_text() for path in (REPOSITORY / "Tests").glob("*Tests/**/*.swift")}
    for path in DOCUMENTS:
        for suite, test in re.findall(r"`(\w+Tests)\.(\w+)`", path.read_text()):
            assert any(re.search(rf"\b(struct|class) {suite}\b", text) for text in sources.values()), suite
            assert any(f"func {test}(" in text for text in sources.values()), f"{suite}.{test}"


def test_files_that_are_gone_are_found():
    text = "`WebSocket/Client/ReconnectPolicy.swift`, `Client/ConnectionState`, `docker/*.yaml` `HistoryTests` `0/5` `nobody.swift`\n```\n`a.md`\n```\n"
    named = names(text)
    assert named == ["WebSocket/Client/ReconnectPolicy.swift", "Client/ConnectionState", "docker/*.yaml", "nobody.swift"]
    assert [is_there(name) for name in named] == [False, True, True, False]


def test_dead_links_are_found():
    page = REPOSITORY / "grafana" / "README.md"
    found = links("[a](../none.md) `[b](c.md)` [d](#dashboards)\n```\n[e](f.md)\n```\n[g](#nothing)\n[h]: ../README.md\n")
    assert found == ["../none.md", "#dashboards", "#nothing", "../README.md"]
    assert [dead(page, link) for link in found] == ["../none.md: no such file", None, "#nothing: no such heading", None]
