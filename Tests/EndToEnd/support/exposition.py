"""The one parser of metrics pages in the text format: strict, so that every scrape of every test is
checked."""

import re
from collections import Counter
from typing import NamedTuple

# Nothing backtracks (`++`, `*+`), so that a line takes time in proportion to its length.
_LABEL = r'[a-zA-Z_]\w*+="(?:[^"\\]++|\\.)*+"'
_SAMPLE = re.compile(rf"([a-zA-Z_:][\w:]*+)(?:\{{((?:{_LABEL}(?:,|(?=\}})))*+)\}})? (\S++)")
_PAIR = re.compile(r'(\w++)="((?:[^"\\]++|\\.)*+)"')
_ESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


class Sample(NamedTuple):
    name: str
    labels: dict[str, str]
    value: float


def parse_samples(text: str) -> list[Sample]:
    """Every sample, which must have no time; an assertion fails for any other line that is neither
    a comment nor empty."""
    samples = []
    # Not splitlines, which ends lines where the format does not.
    for line in text.split("\n"):
        if not line or line.startswith("#"):
            continue
        found = _SAMPLE.fullmatch(line)
        assert found, line
        name, inside, value = found.groups()
        pairs = _PAIR.findall(inside) if inside else ()
        labels = {
            label: re.sub(r"\\.", lambda escape: _ESCAPES[escape[0]], text)
            if "\\" in text
            else text
            for label, text in pairs
        }
        assert len(labels) == len(pairs), f"a label twice: {line}"
        samples.append(Sample(name, labels, float(value)))
    return samples


def duplicate_series(text: str) -> list[str]:
    """The series that occur more than once, in any order of their labels: no parser complains
    about them."""
    series = Counter(
        f"{sample.name}{sorted(sample.labels.items())}" for sample in parse_samples(text)
    )
    return [name for name, count in series.items() if count > 1]


class Exposition:
    """A parsed page of metrics."""

    def __init__(self, text: str):
        self.text = text
        self._samples: dict[str, list[tuple[dict[str, str], float]]] = {}
        for name, labels, value in parse_samples(text):
            self._samples.setdefault(name, []).append((labels, value))

    def samples(self, name: str, **labels: str) -> list[tuple[dict[str, str], float]]:
        """Labels and value of each series of that name which has these labels."""
        return [
            (found, value)
            for found, value in self._samples.get(name, [])
            if all(found.get(label) == wanted for label, wanted in labels.items())
        ]

    def value(self, name: str, **labels: str) -> float:
        """The value of the one series of that name with these labels."""
        samples = self.samples(name, **labels)
        assert len(samples) == 1, f"{name}{labels}: {samples}"
        return samples[0][1]

    def by(self, name: str, label: str, **labels: str) -> dict[str, float]:
        """The values of a metric family by one of its labels."""
        return {found[label]: value for found, value in self.samples(name, **labels)}

    def nonzero(self, name: str, label: str) -> dict[str, float]:
        """The values above 0 of a metric family by one of its labels."""
        return {labels[label]: value for labels, value in self.samples(name) if value}

    @property
    def names(self) -> set[str]:
        """Names of samples, and of metric families that have none yet."""
        return set(self._samples) | set(re.findall(r"^# TYPE (\S+) ", self.text, re.MULTILINE))

    @property
    def duplicates(self) -> list[str]:
        return duplicate_series(self.text)
