"""A crowd of greedy clients in a separate process, and scrapes from another address meanwhile."""

import base64
import contextlib
import http.client
import multiprocessing
import selectors
import time

from support.raw_http import connect

ADDRESS = "127.0.0.2"
#: Eight addresses, each of which may have 128 connections.
CROWD = [f"127.0.0.{number}" for number in range(2, 10)]
#: Each may have a quarter of the concurrent scrapes, so that three leave one for others.
SCRAPERS = CROWD[:3]


def _request(target: str, method: str = "GET", fields: str = "Accept-Encoding: gzip\r\n") -> str:
    return f"{method} {target} HTTP/1.1\r\nHost: x\r\n{fields}Connection: close\r\n\r\n"


def _parameters(parameter: str) -> str:
    """As many parameters as a target has room for."""
    return "&".join([parameter] * (8000 // (len(parameter) + 1)))


def _basic(credentials: str) -> str:
    return f"Authorization: Basic {base64.b64encode(credentials.encode()).decode()}\r\n"


def _accept(count: int) -> str:
    accepted = ",".join(["a/b;q=0.1"] * count)
    codings = ",".join(["a;q=0.1"] * count)
    return f"Accept: {accepted}\r\nAccept-Encoding: {codings}\r\n"


#: The concurrent requests of a crowd, by their number.
ATTACKS = {
    "/history.json?since=": lambda number: _request(f"/history.json?limit=25&since={number}"),
    "/history.json?city= …": lambda number: _request(f"/history.json?{_parameters('city=a')}"),
    "/?search=é": lambda number: _request("/?search=%C3%A9"),
    "/city/…": lambda number: _request(f"/city/City%20{number}"),
    "/events": lambda number: _request("/events"),
    "/": lambda number: _request("/"),
    "/about": lambda number: _request("/about"),
    "/metrics": lambda number: _request("/metrics"),
    "/metrics, plain": lambda number: _request("/metrics", fields=""),
    "HEAD /metrics": lambda number: _request("/metrics", "HEAD"),
    "/metrics?…": lambda number: _request(f"/metrics?{_parameters('a=b')}"),
    "HEAD /metrics, much accepted": lambda number: _request("/metrics", "HEAD", _accept(500)),
    "2,600 percent escapes": lambda number: _request("/" + "%41" * 2600),
    "a header of 15 KB": lambda number: _request(
        "/x", fields="X-Y: 12345678\r\n" * 98 + f"A: {'a' * 13000}\r\n"
    ),
    "many zeros of a length": lambda number: _request(
        "/x", fields=f"Content-Length: {'0' * 12000}\r\n"
    ),
    "a password of 12 KB": lambda number: _request("/x", fields=_basic(f"{number}:" + "x" * 9000)),
}


def _ask(port: int, attack: str, count: int, seconds: float, is_sent) -> None:
    """Keeps `count` requests open for the given seconds."""
    end = time.monotonic() + seconds
    addresses = SCRAPERS if "/metrics" in attack else CROWD
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:

        def ask(number: int) -> None:
            client = stack.enter_context(connect(port, source=addresses[number % len(addresses)]))
            with contextlib.suppress(OSError):
                client.sendall(ATTACKS[attack](number).encode())
            selector.register(client, selectors.EVENT_READ, number)

        for number in range(min(count, 128 * len(addresses))):
            ask(number)
        is_sent.set()
        while selector.get_map() and (left := end - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                try:
                    if key.fileobj.recv(1 << 20):
                        continue
                except OSError:
                    pass
                selector.unregister(key.fileobj)
                key.fileobj.close()
                if time.monotonic() < end:
                    ask(key.data)


def scrapes(port: int, is_going_on, pause: float = 0.01) -> list[float]:
    """The seconds of each scrape, for as long as `is_going_on` holds."""
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
    """Scrapes for the given seconds, without a crowd."""
    end = time.monotonic() + seconds
    return scrapes(port, lambda: time.monotonic() < end)


def beside(port: int, attack: str, count: int = 1000, seconds: float = 5) -> list[float]:
    """Scrapes while the crowd keeps `count` requests open."""
    processes = multiprocessing.get_context("fork")
    is_sent = processes.Event()
    asking = processes.Process(target=_ask, args=(port, attack, count, seconds, is_sent))
    asking.start()
    try:
        return scrapes(port, asking.is_alive)
    finally:
        asking.join(seconds + 30)
        assert is_sent.is_set() and asking.exitcode == 0
