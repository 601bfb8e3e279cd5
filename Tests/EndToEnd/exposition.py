"""A page of metrics, parsed by the Python client library's parser."""

import re
from collections import Counter

from prometheus_client.parser import text_string_to_metric_families


class Exposition:
    def __init__(self, text: str):
        self.text = text
        self._samples: dict[str, list[tuple[dict[str, str], float]]] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                self._samples.setdefault(sample.name, []).append((sample.labels, sample.value))

    def samples(self, name: str, **labels: str) -> list[tuple[dict[str, str], float]]:
        return [
            (found, value)
            for found, value in self._samples.get(name, [])
            if all(found.get(label) == wanted for label, wanted in labels.items())
        ]

    def value(self, name: str, **labels: str) -> float:
        samples = self.samples(name, **labels)
        assert len(samples) == 1, f"{name}{labels}: {samples}"
        return samples[0][1]

    def nonzero(self, name: str, label: str) -> dict[str, float]:
        """The values above 0 of a family, by one of its labels."""
        return {labels[label]: value for labels, value in self.samples(name) if value}

    @property
    def names(self) -> set[str]:
        return set(self._samples)

    @property
    def duplicates(self) -> list[str]:
        """Series that stand there more than once, which no parser complains about."""
        return duplicate_series(self.text)


_SAMPLE = re.compile(r'([a-zA-Z_:][\w:]*)(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})? (\S+)')
_LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"(?:,|$)')
_ESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


def parse_samples(text: str) -> list[tuple[str, dict[str, str], float]]:
    """Name, labels and value of every sample line, by a reading of our own that drops nothing."""
    samples = []
    # Not splitlines, which ends lines where the format does not.
    for line in text.split("\n"):
        if not line or line.startswith("#"):
            continue
        found = _SAMPLE.fullmatch(line)
        assert found, line
        pairs = _LABEL.findall(found[2] or "")
        assert "".join(f'{name}="{value}",' for name, value in pairs) == (f"{found[2]}," if found[2] else ""), line
        labels = {name: re.sub(r"\\.", lambda escape: _ESCAPES[escape[0]], value) for name, value in pairs}
        assert len(labels) == len(pairs), f"a label twice: {line}"
        samples.append((found[1], labels, float(found[3])))
    return samples


def duplicate_series(text: str) -> list[str]:
    """The series of a page that have more than one sample, whatever the order of their labels."""
    series = Counter(f"{name}{sorted(labels.items())}" for name, labels, _ in parse_samples(text))
    return [name for name, count in series.items() if count > 1]
