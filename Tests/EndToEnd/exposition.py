"""A page of metrics, parsed by the Python client library's parser."""

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
        series = [line.rsplit(" ", 1)[0] for line in self.text.splitlines() if line and not line.startswith("#")]
        return [name for name, count in Counter(series).items() if count > 1]
