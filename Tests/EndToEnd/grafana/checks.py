"""Counting of checks: what held, what did not, what could not be tried."""


class Checks:
    """The outcome of a group of checks. `complaints` are sentences for people, one for each check that did not hold."""

    def __init__(self) -> None:
        self.passed = 0
        self.complaints: list[str] = []
        self.skips: list[str] = []

    def that(self, holds: object, complaint: str) -> bool:
        if holds:
            self.passed += 1
        else:
            self.complaints.append(complaint)
        return bool(holds)

    def skip(self, reason: str) -> None:
        self.skips.append(reason)

    def add(self, other: "Checks") -> None:
        self.passed += other.passed
        self.complaints += other.complaints
        self.skips += other.skips
