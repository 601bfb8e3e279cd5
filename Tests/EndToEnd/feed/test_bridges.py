"""The bridges of FEEDS.md: the lines that another program writes become a feed."""

import os
import re
import shlex

import pytest

from support import metrics, readings
from support.recipes import SECTIONS, recipe, start_with
from support.waiting import wait_for

DELHI = '{"city":"Delhi","aqi":301.5,"pm25":150.5,"time":1795919400,"lat":28.61,"lon":77.21}'
MUMBAI = (
    '{"city":"Mumbai","aqi":151,"time":"2026-11-29T02:30:00Z","pollutants":{"pm10":90},'
    '"place":{"latitude":19.08,"longitude":72.88,"country":"IN"}}'
)
PUNE = '[{"city":"Pune","aqi":51}]'


def mosquitto(payload: str) -> str:
    """A line of `mosquitto_sub -F %J` 2.0.11; with `%j` the payload is a string, which the recipe
    does not read."""
    return (
        '{"tst":"2026-11-29T02:36:01.862670Z+0000","topic":"air/x","qos":0,"retain":0,'
        f'"payloadlen":{len(payload)},"payload":{payload or "null"}}}'
    )


#: By program: a line for each message. One that is no JSON is a blank line of mosquitto_sub, an
#: empty one the words `nil body` of nats.
LINES = {
    "mosquitto_sub": [*map(mosquitto, (DELHI, "42", "", MUMBAI)), "", mosquitto(PUNE)],
    "nats": [DELHI, "42", "nil body", MUMBAI, "offline", PUNE],
}
COMMANDS = {
    line.split()[0]: line.split(" | ")[1]
    for line in re.search(r"```sh\n(.*?)```", SECTIONS["MQTT"], re.S)[1].splitlines()
}


def test_each_bridge_has_its_lines():
    assert COMMANDS.keys() == LINES.keys()


@pytest.mark.parametrize("writer", LINES)
def test_lines_are_read_as_they_come_until_they_end(start, tmp_path, writer):
    program, *arguments, flag, address = shlex.split(COMMANDS[writer])
    assert (program, flag) == ("air-quality-feed", "--listen")
    entry = recipe("MQTT")
    assert entry["url"] == f"ws://{address}/"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Opened for both, so that neither side waits for the other.
    with open(os.open(pipe, os.O_RDWR), "wb", buffering=0) as lines:
        launcher = "sh", "-c", 'exec "$@" <"$0"', str(pipe)
        feed = start.feed(*arguments, listen="127.0.0.1:0", launcher=launcher)
        exporter = start_with(start, tmp_path, entry | {"url": feed.url})
        exporter.wait_for_sample(metrics.CONNECTED, 1)
        for count, line in enumerate(LINES[writer], 1):
            lines.write(line.encode() + b"\n")
            # An empty line is no message.
            sent = count - LINES[writer][:count].count("")
            exporter.wait_for_sample(metrics.MESSAGES, sent)
    page = exporter.scrape()
    found = readings.shown(page)
    assert found.pop("Pune")["aqi"] == 51
    time = {"time": 1795919400}
    assert found == {
        "Delhi": {"aqi": 301.5, "pm2_5": 150.5, "latitude": 28.61, "longitude": 77.21} | time,
        "Mumbai": {"aqi": 151, "pm10": 90, "latitude": 19.08, "longitude": 72.88, "country": "IN"}
        | time,
    }
    assert page.nonzero(metrics.REJECTED, "reason") == {}
    wait_for(lambda: not feed.is_running, "the end of the lines")
    assert feed.wait() == 0
