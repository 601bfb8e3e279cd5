"""Reading the text format of a metrics page."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    name: str
    labels: dict[str, str]
    value: float


def unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: "\n" if match.group(1) == "n" else match.group(1), text)


def parse(page: str) -> list[Sample]:
    found = []
    for line in page.splitlines():
        if not line or line.startswith("#"):
            continue
        match = re.fullmatch(r'([a-zA-Z_:][\w:]*)(?:\{((?:[^"]|"(?:[^"\\]|\\.)*")*)\})? (\S+)(?: \d+)?', line)
        if match is None:
            raise ValueError(f"not a sample: {line!r}")
        labels = {key: unescape(value) for key, value in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match.group(2) or "")}
        found.append(Sample(match.group(1), labels, float(match.group(3))))
    return found


def names(page: str) -> set[str]:
    """Names of the samples, and of the families that have none yet."""
    families = set(re.findall(r"^# TYPE (\S+) ", page, re.MULTILINE))
    return families | {sample.name for sample in parse(page)}
