"""`/events` over the wire: what is sent, and how many clients may listen."""

import http.client
import socket

import pytest

from support.waiting import wait_for


class Listener:
    """Reads the events of a socket, line by line."""

    def __init__(self, port: int, last: str | None = None, source: str = "127.0.0.1"):
        self.socket = socket.create_connection(
            ("127.0.0.1", port), timeout=60, source_address=(source, 0)
        )
        field = f"Last-Event-ID: {last}\r\n" if last is not None else ""
        # HTTP/1.0: the events without the framing of chunks.
        self.socket.sendall(f"GET /events HTTP/1.0\r\nHost: x\r\n{field}\r\n".encode())
        self.lines = self.socket.makefile("rb")
        self.status = int(self.lines.readline().split()[1])
        self.headers = http.client.parse_headers(self.lines)

    def event(self) -> dict:
        """The next event; comments are skipped."""
        fields: dict = {}
        while True:
            line = self.lines.readline()
            assert line, "the stream ended"
            if line == b"\n" and "data" in fields:
                return fields
            name, _, value = line.decode().rstrip("\n").partition(": ")
            fields[name] = value

    def close(self) -> None:
        self.socket.shutdown(socket.SHUT_RDWR)
        self.lines.close()
        self.socket.close()


@pytest.fixture
def listen():
    listeners = []

    def listen(exporter, last: str | None = None, source: str = "127.0.0.1") -> Listener:
        listeners.append(Listener(exporter.port, last, source))
        return listeners[-1]

    yield listen
    for listener in listeners:
        listener.lines.close()
        listener.socket.close()


def test_a_change_is_sent_as_an_event_and_a_missed_one_at_once_after_reconnecting(air, listen):
    listener = listen(air.exporter)
    air.say(Delhi=150.5)
    event = listener.event()
    assert (event["event"], event["data"]) == ("change", "{}") and event["id"]
    air.say(Kolkata=251)
    later = listener.event()
    assert later["id"] != event["id"]
    # A client that missed an event gets one at once.
    assert listen(air.exporter, event["id"]).event()["event"] == "change"


def addresses(each: int) -> list[str]:
    """The addresses of 256 listeners, `each` of an address."""
    numbers = [number // each for number in range(256)]
    return [f"127.0.{1 + number // 128}.{1 + number % 128}" for number in numbers]


def test_a_listener_of_a_full_address_is_rejected_and_one_of_another_ends_the_oldest(air, listen):
    listeners = [listen(air.exporter, source=address) for address in addresses(each=64)]
    assert {listener.status for listener in listeners} == {200}
    rejected = listen(air.exporter, source="127.0.1.1")
    assert rejected.status == 503 and int(rejected.headers["Retry-After"]) > 0
    newcomer = listen(air.exporter)
    assert newcomer.status == 200
    assert b"event:" not in listeners[0].lines.read(), "the oldest ends, without an event"
    air.say(Delhi=150.5)
    assert {listener.event()["event"] for listener in [*listeners[1:], newcomer]} == {"change"}


def test_listeners_beyond_256_of_as_many_addresses_are_rejected(air, listen):
    listeners = [listen(air.exporter, source=address) for address in addresses(each=1)]
    assert {listener.status for listener in listeners} == {200}
    rejected = listen(air.exporter, source="127.0.9.1")
    assert rejected.status == 503 and int(rejected.headers["Retry-After"]) > 0
    air.say(Delhi=150.5)
    assert {listener.event()["event"] for listener in listeners} == {"change"}
    listeners[0].close()
    air.exporter.wait_for_sample("airquality_exporter_event_listeners", 255)
    # The place becomes free with the end of the connection, a moment after its listener's.
    wait_for(lambda: listen(air.exporter, source="127.0.9.1").status == 200, "a place")
