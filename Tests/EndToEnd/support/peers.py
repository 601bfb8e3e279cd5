"""Third-party peers: Python's WebSocket server, a real Prometheus."""

import json
import pathlib
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, serve

from support.programs import Program
from support.waiting import wait_for


class WebSocketFeed:
    """A feed with Python's `websockets`: sends given messages to every client, and names its source
    in the handshake."""

    def __init__(self, port: int = 0, source: str | None = None, **options):
        def name_source(connection, request, response) -> None:
            response.headers["Air-Quality-Source"] = source

        options |= {"process_response": name_source} if source else {}
        self.clients: list[ServerConnection] = []
        self.received: list[str | bytes] = []
        self.requests: list = []
        self._changed = threading.Condition()
        self._server: Server = serve(self._serve, "127.0.0.1", port, **options)
        self.port = self._server.socket.getsockname()[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def _serve(self, connection: ServerConnection):
        with self._changed:
            self.clients.append(connection)
            # Last, because a test that sees the request wants to talk to its client.
            self.requests.append(connection.request)
            self._changed.notify_all()
        try:
            for message in connection:
                self.received.append(message)
        except ConnectionClosed:
            pass
        finally:
            with self._changed:
                self.clients.remove(connection)

    def __enter__(self) -> "WebSocketFeed":
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/"

    def wait_for_client(self, count: int = 1, seconds: float = 30) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.clients) >= count, seconds), (
                "no client has connected"
            )

    def send(self, message, **options) -> None:
        """Sends a text, bytes, or anything else as JSON."""
        if not isinstance(message, (str, bytes)):
            message = json.dumps(message)
        for client in list(self.clients):
            client.send(message, **options)

    def send_cities(self, aqi: float, count: int = 100) -> None:
        """Sends one message with `count` cities, `City 0` and so on."""
        self.send([{"city": f"City {number}", "aqi": aqi} for number in range(count)])

    def close_clients(self, code: int = 1000) -> None:
        for client in list(self.clients):
            client.close(code)

    def stop(self) -> None:
        # First of all, it accepts no new clients: one that is closed may reconnect at once.
        self._server.shutdown()
        self._thread.join(10)


class Prometheus(Program):
    """Debian's Prometheus, scraping the targets every second. `sections` are added to its
    configuration."""

    def __init__(
        self,
        folder: pathlib.Path,
        targets: tuple[str, ...],
        rules: list[str] = (),
        interval: str = "1s",
        **sections,
    ):
        names = ("scrape_interval", "scrape_timeout", "evaluation_interval")
        job = {"job_name": "air-quality-exporter", "static_configs": [{"targets": list(targets)}]}
        configuration = {
            "global": dict.fromkeys(names, interval),
            "rule_files": list(rules),
            "scrape_configs": [job],
            **sections,
        }
        # JSON is YAML.
        file = folder / "prometheus.yml"
        file.write_text(json.dumps(configuration))
        flags = [f"--config.file={file}", f"--storage.tsdb.path={folder / 'tsdb'}"]
        flags += ["--web.listen-address=127.0.0.1:0", "--log.level=info"]
        super().__init__(["prometheus", *flags])
        said = r'msg="Listening on" address=127\.0\.0\.1:(\d+)'
        self.port = int(self.wait_for_match(said, self.errors))
        wait_for(lambda: self._get("/-/ready"), "Prometheus to be ready", 60)

    def stop(self) -> None:
        # Its data are not needed, and writing them to the end can take a minute.
        self.kill()

    def _get(self, path: str) -> bytes:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as response:
            return response.read()

    def ask(self, path: str, **parameters):
        """The `data` of a response of its API; ValueError with its own words if it rejects."""
        query = urllib.parse.urlencode(parameters, doseq=True)
        try:
            return json.loads(self._get(f"/api/v1/{path}?{query}"))["data"]
        except urllib.error.HTTPError as error:
            raise ValueError(json.loads(error.read()).get("error", str(error))) from None

    def query(self, expression: str) -> list[dict]:
        """The result now, as metric and value; a scalar is a vector of one without labels."""
        data = self.ask("query", query=expression)
        result = data["result"]
        return [{"metric": {}, "value": result}] if data["resultType"] == "scalar" else result

    def query_range(self, expression: str, seconds: float, step: float = 1) -> list[dict]:
        """The result from the given number of seconds ago until now."""
        now = time.time()
        times = {"start": now - seconds, "end": now, "step": step}
        return self.ask("query_range", query=expression, **times)["result"]

    def wait_for(self, expression: str, seconds: float = 30) -> list[dict]:
        """Waits until the query has a result."""
        what = f"a result of {expression}"
        return wait_for(lambda: self.query(expression), what, seconds, pause=0.1)
