"""A Tornado feed, which compresses each message with the window that earlier ones have left."""

import asyncio
import threading

import pytest
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application
from tornado.websocket import WebSocketHandler

from support import metrics
from support.waiting import wait_for


@pytest.fixture
def tornado_feed():
    clients, loop = [], asyncio.new_event_loop()
    socket, port = bind_unused_port()

    class Handler(WebSocketHandler):
        def get_compression_options(self):
            return {}

        def open(self):
            clients.append(self)

    async def start():
        HTTPServer(Application([("/", Handler)])).add_socket(socket)

    async def write(message):
        await clients[0].write_message(message)

    def send(message):
        asyncio.run_coroutine_threadsafe(write(message), loop).result(10)

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    yield f"ws://127.0.0.1:{port}/", clients, send
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)


def test_messages_compressed_with_a_shared_window_are_read(start, tornado_feed):
    url, clients, send = tornado_feed
    exporter = start.exporter("--feed.url", url, "--feed.max-message-bytes=64KiB")
    wait_for(lambda: clients, "the client")
    # Tornado responds without `server_no_context_takeover`.
    assert clients[0]._headers["Sec-WebSocket-Extensions"] == "permessage-deflate"
    names = [f"Somewhere {number}" for number in range(500)]
    for aqi in (51, 52, 53):
        send(str([{"city": name, "aqi": aqi} for name in names]).replace("'", '"'))
    exporter.wait_for_sample("airquality_index", 53, city=names[-1])
    # A message that is too large is rejected, and those after it are read.
    send("[" + ",".join('{"city":"Pune","aqi":1}' for _ in range(5000)) + "]")
    exporter.wait_for_sample(metrics.REJECTED, 1, reason="too_large")
    send(str([{"city": name, "aqi": 54} for name in names]).replace("'", '"'))
    exporter.wait_for_sample("airquality_index", 54, city=names[-1])
    assert exporter.scrape().value(metrics.MESSAGES) == 5 and len(clients) == 1
