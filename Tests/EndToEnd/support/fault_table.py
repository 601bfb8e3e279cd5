"""The table of a feed's faults, printed after the tests: the reason under which each was counted,
and how long it took."""

import pytest

#: The name under which a test's report carries its row.
PROPERTY = "fault"


class Plugin:
    """Collects the rows from the reports, which come from other processes if the tests run in
    several."""

    def __init__(self):
        self.rows: list[list] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.rows += [value for name, value in report.user_properties if name == PROPERTY]

    def pytest_terminal_summary(self, terminalreporter) -> None:
        if self.rows and terminalreporter.verbosity >= 0:
            terminalreporter.write_sep("=", "faults of a feed")
            for line in table(self.rows):
                terminalreporter.write_line(line)


def row(fault: str, counted: str, noticed: float | None, flowing: float, limit: float) -> list:
    return [
        fault,
        counted,
        *("–" if time is None else f"{time:.2f} s" for time in (noticed, flowing, limit)),
    ]


def table(rows: list[list]) -> list[str]:
    title = ["fault", "counted", "noticed after", "readings again after", "limit"]
    return [f"| {' | '.join(cells)} |" for cells in (title, ["---"] * len(title), *rows)]
