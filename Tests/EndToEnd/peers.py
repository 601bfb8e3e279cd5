"""Peers that we did not write: Python's WebSocket server, a real Prometheus."""

import json
import pathlib
import threading
import urllib.parse
import urllib.request

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, serve

from programs import Program
from waiting import wait_for


class WebSocketFeed:
    """A feed by Python's `websockets`: sends what it is told to every client."""

    def __init__(self, port: int = 0, **options):
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
            # Last: whoever sees the request wants to talk to its client.
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

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/"

    def wait_for_client(self, count: int = 1, seconds: float = 30) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.clients) >= count, seconds), "no client has connected"

    def send(self, message, **options) -> None:
        if not isinstance(message, (str, bytes, list)) or isinstance(message, list) and options.pop("as_json", True):
            message = json.dumps(message)
        for client in list(self.clients):
            client.send(message, **options)

    def close_clients(self, code: int = 1000) -> None:
        for client in list(self.clients):
            client.close(code)

    def stop(self) -> None:
        self.close_clients(1001)
        self._server.shutdown()
        self._thread.join(10)


class Prometheus(Program):
    """Debian's Prometheus, scraping the targets every second."""

    def __init__(self, folder: pathlib.Path, targets: tuple[str, ...], rules: list[str] = (), interval: str = "1s"):
        configuration = {
            "global": {"scrape_interval": interval, "scrape_timeout": interval, "evaluation_interval": interval},
            "rule_files": list(rules),
            "scrape_configs": [
                {"job_name": "air-quality-exporter", "static_configs": [{"targets": list(targets)}]}
            ],
        }
        # JSON is YAML.
        file = folder / "prometheus.yml"
        file.write_text(json.dumps(configuration))
        super().__init__(
            [
                "prometheus",
                f"--config.file={file}",
                f"--storage.tsdb.path={folder / 'tsdb'}",
                "--web.listen-address=127.0.0.1:0",
                "--log.level=info",
            ]
        )
        self.port = wait_for(self._find_port, "Prometheus' address")
        wait_for(lambda: self._get("/-/ready"), "Prometheus to be ready")

    def stop(self) -> None:
        # What it has stored is not needed, and writing that to the end can take it a minute.
        self.kill()

    def _find_port(self) -> int | None:
        # It logs the address as it was given, so the kernel has to say which port it got.
        import os
        import re

        inodes = set()
        for descriptor in os.listdir(f"/proc/{self.pid}/fd"):
            try:
                link = os.readlink(f"/proc/{self.pid}/fd/{descriptor}")
            except FileNotFoundError:
                continue
            if found := re.fullmatch(r"socket:\[(\d+)\]", link):
                inodes.add(found[1])
        for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                return int(fields[1].split(":")[1], 16)
        return None

    def _get(self, path: str) -> bytes:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as response:
            return response.read()

    def query(self, expression: str) -> list[dict]:
        answer = json.loads(self._get("/api/v1/query?" + urllib.parse.urlencode({"query": expression})))
        assert answer["status"] == "success", answer
        return answer["data"]["result"]

    def wait_for(self, expression: str, seconds: float = 30) -> list[dict]:
        """Waits until the query has a result."""
        return wait_for(lambda: self.query(expression), f"a result of {expression}", seconds, pause=0.1)
