"""The recipes of FEEDS.md."""

import pathlib
import re

import yaml

REPOSITORY = pathlib.Path(__file__).parents[3]
SECTIONS = dict(
    re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", (REPOSITORY / "FEEDS.md").read_text(), re.M | re.S)
)


def recipe(title: str) -> dict:
    [entry] = yaml.safe_load(re.search(r"```yaml\n(.*?)```", SECTIONS[title], re.S)[1])
    return entry


def start_with(start, tmp_path: pathlib.Path, entry: dict):
    """An exporter with the entry as its feed file."""
    file = tmp_path / "feeds.yml"
    file.write_text(yaml.safe_dump([entry]))
    return start.exporter("--feed.file", file)
