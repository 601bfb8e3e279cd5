"""A response of the exporter, to any of the clients."""

import dataclasses
import json


@dataclasses.dataclass
class Answer:
    status: int
    #: By name in title case.
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)


def expect_one_line(answer: Answer) -> None:
    """An error for people: one line of printable text."""
    assert answer.headers["Content-Type"].startswith("text/plain"), answer
    text = answer.text
    assert (
        text.endswith("\n") and text.count("\n") == 1 and len(text) > 2 and text[:-1].isprintable()
    ), text


def expect_json_error(answer: Answer) -> None:
    assert answer.headers["Content-Type"] == "application/json", answer
    assert list(answer.json) == ["error"] and answer.json["error"]
