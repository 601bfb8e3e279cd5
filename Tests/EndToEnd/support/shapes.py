"""The README's shapes of messages, and a feed that sends given messages."""

import pathlib
import re
import shlex

import pytest

from support.peers import WebSocketFeed

README = pathlib.Path(__file__).parents[3] / "Sources/Exporter/AirQualityExporter/README.md"


def rows():
    """Shape, message and flags of each row of the README's table of shapes."""
    table = README.read_text().split("<!-- shapes: begin -->")[1].split("<!-- shapes: end -->")[0]
    for line in table.strip().splitlines()[2:]:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        message, flags = (re.sub(r"\\\|", "|", cell.strip("`").strip()) for cell in cells[1:])
        yield pytest.param(message, shlex.split(flags) if flags != "none" else [], id=cells[0])


class Sender(WebSocketFeed):
    """Sends its messages to each client that connects."""

    def __init__(self, *messages: str):
        self._messages = messages
        super().__init__()

    def _serve(self, connection):
        for message in self._messages:
            connection.send(message)
        super()._serve(connection)
