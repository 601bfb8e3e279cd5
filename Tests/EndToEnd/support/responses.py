"""A response of the exporter, to any of the clients."""

import dataclasses
import json


@dataclasses.dataclass
class Response:
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


def expect_one_line(response: Response) -> None:
    """An error for people: one line of printable text."""
    assert response.headers["Content-Type"].startswith("text/plain"), response
    text = response.text
    assert (
        text.endswith("\n") and text.count("\n") == 1 and len(text) > 2 and text[:-1].isprintable()
    ), text


def expect_json_error(response: Response) -> None:
    assert response.headers["Content-Type"] == "application/json", response
    assert list(response.json) == ["error"] and response.json["error"]
