"""The table of faults: what was counted, and how long it took; printed at the end of the run."""

import dataclasses


@dataclasses.dataclass
class Row:
    fault: str
    counted: str
    noticed: float | None
    flowing: float
    limit: float


class FaultTable:
    """A pytest plugin."""

    def __init__(self):
        self.rows: list[Row] = []

    def add(self, *columns) -> None:
        self.rows.append(Row(*columns))

    def lines(self) -> list[str]:
        def seconds(time: float | None) -> str:
            return "–" if time is None else f"{time:.2f} s"

        return [
            "| fault | counted | noticed after | readings again after | limit |",
            "| --- | --- | --- | --- | --- |",
        ] + [
            f"| {row.fault} | {row.counted} | {seconds(row.noticed)} | {seconds(row.flowing)} | {seconds(row.limit)} |"
            for row in self.rows
        ]

    def pytest_terminal_summary(self, terminalreporter) -> None:
        if self.rows:
            terminalreporter.write_sep("=", "faults of a feed")
            for line in self.lines():
                terminalreporter.write_line(line)
