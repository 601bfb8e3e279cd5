"""A client that asks for much at once, in a process of its own, and scrapes from another address beside it."""

import contextlib
import http.client
import multiprocessing
import selectors
import time

from support.raw_http import connect

#: What one address asks for; `{}` is the number of the request.
PATHS = (
    "/history.json?limit=25&since={}",
    "/?search=%C3%A9",
    "/city/City%20{}",
    "/events",
    "/",
)
ADDRESS = "127.0.0.2"


def _ask(port: int, path: str, count: int, seconds: float, is_sent) -> None:
    end = time.monotonic() + seconds
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        clients = [stack.enter_context(connect(port, source=ADDRESS)) for _ in range(count)]
        for number, client in enumerate(clients):
            # With the identifier, `/events` begins with all cities.
            head = f"GET {path.format(number)} HTTP/1.1\r\nHost: x\r\nLast-Event-ID: 0\r\nConnection: close\r\n\r\n"
            client.sendall(head.encode())
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


def beside(port: int, path: str, count: int = 200, seconds: float = 10) -> list[float]:
    """Scrapes while another address asks for the path so many times at once."""
    processes = multiprocessing.get_context("fork")
    is_sent = processes.Event()
    asking = processes.Process(target=_ask, args=(port, path, count, seconds, is_sent))
    asking.start()
    try:
        return scrapes(port, asking.is_alive)
    finally:
        asking.join(seconds + 30)
        assert is_sent.is_set() and asking.exitcode == 0
