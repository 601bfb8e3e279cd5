"""Tests that passed only when they ran again, named at the end and in a file."""

import pathlib

import pytest


class Plugin:
    """Collects what passes in a second run of failed tests."""

    def __init__(self, file: pathlib.Path):
        self.file = file
        self.passed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.passed.append(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter) -> None:
        lines = [f"flaky: {name}" for name in self.passed]
        with self.file.open("a") as file:
            file.writelines(line + "\n" for line in lines)
        for line in lines:
            terminalreporter.write_line(line)
