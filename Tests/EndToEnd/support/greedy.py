"""A client that asks for much at once, in a process of its own, and scrapes from another address beside it."""

import contextlib
import http.client
import multiprocessing
import selectors
import time

from support.raw_http import connect

ADDRESS = "127.0.0.2"
TEXT = "text/plain;version=0.0.4"
OPEN_METRICS = "application/openmetrics-text;version=1.0.0"
OPENMETRICS = "application/openmetrics-text;version=1.0.0"


def _request(target: str, method: str = "GET", accept: str = "*/*", coding: str = "gzip") -> str:
    # With the identifier, `/events` begins with all cities.
    return (
        f"{method} {target} HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\nAccept-Encoding: {coding}\r\n"
        "Last-Event-ID: 0\r\nConnection: close\r\n\r\n"
    )


def _parameters(parameter: str) -> str:
    """As many as a target has room for."""
    return "&".join([parameter] * (8000 // (len(parameter) + 1)))


#: What one address asks for at once: the request of a number.
ATTACKS = {
    "/history.json?since=": lambda number: _request(f"/history.json?limit=25&since={number}"),
    "/history.json?city= …": lambda number: _request(f"/history.json?{_parameters('city=a')}"),
    "/?search=é": lambda number: _request("/?search=%C3%A9"),
    "/city/…": lambda number: _request(f"/city/City%20{number}"),
    "/events": lambda number: _request("/events"),
    "/": lambda number: _request("/"),
    "HEAD /metrics": lambda number: _request("/metrics", "HEAD"),
    "/metrics, text and OpenMetrics": lambda number: _request("/metrics", accept=(TEXT, OPENMETRICS)[number % 2]),
    "HEAD /metrics, text and OpenMetrics": lambda number: _request("/metrics", "HEAD", (TEXT, OPENMETRICS)[number % 2]),
    "HEAD /metrics, text and OpenMetrics": lambda number: _request("/metrics", "HEAD", (TEXT, OPEN_METRICS)[number % 2]),
    "HEAD /metrics, much accepted": lambda number: _request(
        "/metrics", "HEAD", ",".join(["a/b;q=0.1"] * 700), ",".join(["a;q=0.1"] * 900)),
}  # fmt: skip


def _ask(port: int, attack: str, count: int, seconds: float, is_sent) -> None:
    end = time.monotonic() + seconds
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        clients = [stack.enter_context(connect(port, source=ADDRESS)) for _ in range(count)]
        for number, client in enumerate(clients):
            client.sendall(ATTACKS[attack](number).encode())
            selector.register(client, selectors.EVENT_READ)
        is_sent.set()
        while selector.get_map() and (left := end - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                try:
                    if key.fileobj.recv(1 << 20):
                        continue
                except OSError:
                    pass
                selector.unregister(key.fileobj)


def scrapes(port: int, is_going_on, pause: float = 0.01) -> list[float]:
    """Seconds of each scrape, as long as it is going on."""
    taken = []
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while is_going_on():
        began = time.monotonic()
        connection.request("GET", "/metrics", headers={"Accept-Encoding": "gzip"})
        response = connection.getresponse()
        assert response.status == 200 and response.read()
        taken.append(time.monotonic() - began)
        time.sleep(pause)
    connection.close()
    return taken


def alone(port: int, seconds: float = 2) -> list[float]:
    """Scrapes for so long."""
    end = time.monotonic() + seconds
    return scrapes(port, lambda: time.monotonic() < end)


def beside(port: int, attack: str, count: int = 200, seconds: float = 10) -> list[float]:
    """Scrapes while another address asks so many times at once."""
    processes = multiprocessing.get_context("fork")
    is_sent = processes.Event()
    asking = processes.Process(target=_ask, args=(port, attack, count, seconds, is_sent))
    asking.start()
    try:
        return scrapes(port, asking.is_alive)
    finally:
        asking.join(seconds + 30)
        assert is_sent.is_set() and asking.exitcode == 0
