"""What does not hold: a list, so that one test shows everything that is wrong with a file at once."""


class Complaints(list[str]):
    """Sentences for people, one for each condition that does not hold."""

    def __init__(self) -> None:
        super().__init__()
        #: How many conditions were looked at.
        self.count = 0

    def that(self, holds: object, complaint: str) -> bool:
        self.count += 1
        if not holds:
            self.append(complaint)
        return bool(holds)


def expect_none(complaints: Complaints) -> None:
    assert complaints.count, "nothing was checked"
    assert not complaints, "\n".join(complaints)
