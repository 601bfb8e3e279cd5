"""Plays stories with real exporters, Prometheus and Alertmanager, faster than real time."""

import contextlib
import http.server
import json
import threading
import time
from collections import Counter
from pathlib import Path

import yaml
from websockets.exceptions import ConnectionClosed

from grafana.dashboards import ROOT
from grafana.rules import faster, faster_rules
from grafana.simulation import MINUTE, Exporter, Readings
from grafana.stories import Story
from support.peers import Prometheus, WebSocketFeed
from support.programs import Program, Programs

# The receivers in docker/prometheus/alertmanager.yml, by severity.
RECEIVERS = {"critical": "on-call", "warning": "operators", "info": "public"}


class Listener:
    """Acts as all receivers of Alertmanager, and keeps each notification with its time."""

    def __init__(self) -> None:
        self.heard: list[tuple[float, str, str, dict[str, str]]] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                for alert in content["alerts"]:
                    said = (content["receiver"], alert["status"], alert["labels"])
                    outer.heard.append((time.monotonic(), *said))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Alertmanager(Program):
    """Alertmanager with the example of docker/prometheus, in which all receivers are a listener."""

    def __init__(self, folder: Path, listener: Listener, speed: int):
        example = (ROOT / "docker/prometheus/alertmanager.yml").read_text()
        content = yaml.safe_load(faster(example, speed))
        for receiver in content["receivers"]:
            receiver["webhook_configs"] = [{"url": listener.url}]
        file = folder / "alertmanager.yml"
        file.write_text(yaml.safe_dump(content))
        flags = [f"--config.file={file}", f"--storage.path={folder / 'alertmanager'}"]
        flags += ["--web.listen-address=127.0.0.1:0", "--cluster.listen-address="]
        super().__init__(["prometheus-alertmanager", *flags])
        said = r'msg="Listening on" address=(127\.0\.0\.1:\d+)'
        self.address = self.wait_for_match(said, self.errors)


def message_with(content: Readings | str) -> str | list[dict]:
    """A message with these readings, or one that is rejected for this reason."""
    if isinstance(content, dict):
        return [{"city": city, "aqi": index} for city, index in content.items()]
    ahead = [{"city": "Delhi", "aqi": 150, "time": time.time() + 600}]
    return {"not_json": "<html>Bad gateway</html>", "bad_time": ahead}[content]


class Actor(threading.Thread):
    """A real feed and a real exporter that follow the script of a story."""

    def __init__(self, script: Exporter, programs: Programs, speed: int):
        super().__init__()
        self.script = script
        self.programs = programs
        self.speed = speed
        self.feed: WebSocketFeed | None = WebSocketFeed()
        self.feed_port = self.feed.port
        self.exporter = self.start_exporter("127.0.0.1:0")
        self.address = self.exporter.address
        self.sent = -1
        self.is_over = threading.Event()

    def start_exporter(self, address: str) -> Program:
        times = {
            "--feed.idle-timeout": self.script.idle_timeout,
            # Less than the default, because the healthy minute that resets the back-off is real.
            "--feed.reconnect-max": 6,
            "--city.expire-after": self.script.expire_after,
        }
        flags = [f"{name}={1000 * value // self.speed}ms" for name, value in times.items()]
        return self.programs.exporter(
            f"--feed.url=ws://127.0.0.1:{self.feed_port}/",
            f"--feed.name={self.script.feed}",
            "--feed.time-field=time",
            "--feed.reconnect-min=1ms",
            *flags,
            listen=address,
        )

    def run(self) -> None:
        begin = time.monotonic()
        while not self.is_over.wait(0.02):
            self.act(int((time.monotonic() - begin) * self.speed))

    def act(self, second: int) -> None:
        if self.script.is_feed_up(second) != (self.feed is not None):
            if self.feed:
                self.feed.stop()
            self.feed = None if self.feed else WebSocketFeed(self.feed_port)
        if self.script.is_running(second) != self.exporter.is_running:
            if self.exporter.is_running:
                self.exporter.kill()
            else:
                self.exporter = self.start_exporter(self.address)
        turn = second // self.script.every
        if self.feed and turn > self.sent:
            self.sent = turn
            # The client may just have disconnected.
            with contextlib.suppress(ConnectionClosed):
                self.feed.send(message_with(self.script.message(turn * self.script.every)))

    def stop(self) -> None:
        self.is_over.set()
        self.join()
        self.exporter.kill()
        if self.feed:
            self.feed.stop()


def play(
    stories: list[Story], speed: int, programs: Programs, folder: Path
) -> dict[str, Counter[str]]:
    """Plays the stories side by side: the notifications of each until its end, by its name."""
    with contextlib.ExitStack() as stack:
        listener = Listener()
        stack.callback(listener.stop)
        alertmanager = Alertmanager(folder, listener, speed)
        stack.callback(alertmanager.kill)
        actors = [
            (f"{story.name}: {script.job}", Actor(script, programs, speed))
            for story in stories
            for script in story.exporters
        ]
        jobs: dict[str, list[dict]] = {}
        for job, actor in actors:
            stack.callback(actor.stop)
            instance = {"instance": actor.script.instance}
            jobs.setdefault(job, []).append({"targets": [actor.address], "labels": instance})
        prometheus = Prometheus(
            folder,
            (),
            rules=faster_rules(folder, speed),
            interval="400ms",
            alerting={
                "alertmanagers": [{"static_configs": [{"targets": [alertmanager.address]}]}]
            },
            scrape_configs=[
                {"job_name": job, "static_configs": targets} for job, targets in jobs.items()
            ],
        )
        stack.callback(prometheus.stop)
        begin = time.monotonic()
        for _, actor in actors:
            actor.start()
        time.sleep(max(story.minutes for story in stories) * MINUTE / speed)
        heard = list(listener.heard)
    told = {story.name: Counter() for story in stories}
    for when, receiver, status, labels in heard:
        story = next(each for each in stories if labels["job"].startswith(f"{each.name}: "))
        if when < begin + story.minutes * MINUTE / speed:
            release = labels["job"].removeprefix(f"{story.name}: ")
            told[story.name][f"{receiver} of {release}: {labels['alertname']} {status}"] += 1
    return told
