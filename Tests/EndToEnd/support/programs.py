"""The built programs as child processes."""

import contextlib
import dataclasses
import http.client
import json
import math
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import urllib.parse

from support.exposition import Exposition
from support.responses import Response
from support.waiting import wait_for


def free_ports(count: int) -> list[int]:
    """Free ports of this host, for programs that cannot choose one themselves."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Program:
    """A child process whose output is kept, line by line."""

    def __init__(self, command: list[str], environment: dict[str, str] | None = None):
        self.command = command
        self.output: list[str] = []
        self.errors: list[str] = []
        self.process = process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | (environment or {}),
        )
        self._readers = [
            threading.Thread(target=self._read, args=stream_and_lines, daemon=True)
            for stream_and_lines in ((process.stdout, self.output), (process.stderr, self.errors))
        ]
        for reader in self._readers:
            reader.start()

    @staticmethod
    def _read(stream, lines):
        with stream:
            for line in stream:
                lines.append(line.decode(errors="replace").rstrip("\n"))

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def wait(self, seconds: float = 30) -> int:
        status = self.process.wait(seconds)
        for reader in self._readers:
            reader.join(5)
        return status

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.wait()

    def stop(self) -> str | None:
        """Ends the program with SIGTERM, and returns what went wrong, if anything."""
        if self.is_running:
            self.signal(signal.SIGTERM)
            failure = None
            try:
                if (status := self.wait(30)) != 0:
                    failure = f"ended with status {status}"
            except subprocess.TimeoutExpired:
                self.kill()
                failure = "did not end within 30 s of SIGTERM"
            if failure:
                return "\n".join([f"{self.command[0]} {failure}:", *self.errors[-40:]])
        said = "\n".join(self.errors)
        is_reported = re.search("ERROR: .*Sanitizer|WARNING: ThreadSanitizer", said)
        return said if is_reported else None

    @property
    def messages(self) -> list[str]:
        """The messages of its log."""
        found = (re.search(r' msg=("(?:[^"\\]|\\.)*"|\S+)', line) for line in list(self.errors))
        texts = [match[1] for match in found if match]
        return [json.loads(text) if text.startswith('"') else text for text in texts]

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        failure = self.stop()
        assert failure is None, failure

    def lines(self, words: str) -> list[str]:
        """The lines of its log that have these words."""
        return [line for line in list(self.errors) if words in line]

    def count_lines(self, words: str) -> int:
        return len(self.lines(words))

    def wait_for_line(self, words: str, count: int | None = None, seconds: float = 30) -> str:
        """Waits for a line of its log with these words, or for exactly `count` of them, and returns
        the first one."""
        return wait_for(
            lambda: (found := self.lines(words)) and count in (None, len(found)) and found,
            f"a line of the log: {words}",
            seconds,
        )[0]

    def wait_for_match(self, pattern: str, lines: list[str]) -> str:
        """The first group of the pattern in the first line that has it, while the program runs."""

        def found() -> str | None:
            return next((match[1] for line in lines if (match := re.search(pattern, line))), None)

        wait_for(lambda: found() or not self.is_running, pattern, 60)
        if not self.is_running:
            self.wait()
        match = found()
        assert match, "\n".join([f"{self.command[0]} ended:", *self.errors[-40:]])
        return match

    # What the kernel reports about the process.

    def _status_bytes(self, name: str) -> int:
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) * 1024

    @property
    def resident_bytes(self) -> int:
        return self._status_bytes("VmRSS")

    @property
    def peak_resident_bytes(self) -> int:
        return self._status_bytes("VmHWM")

    @property
    def processor_seconds(self) -> float:
        """The time of all living threads, by the scheduler's clock, which counts nanoseconds."""
        tasks = pathlib.Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    @property
    def thread_count(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/task"))

    @property
    def descriptor_count(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))


class Exporter(Program):
    """The exporter on a free port."""

    def __init__(
        self,
        path: pathlib.Path,
        flags: tuple[str, ...],
        environment=None,
        listen: str = "127.0.0.1:0",
        launcher: tuple[str, ...] = (),
    ):
        command = [*launcher, str(path), "--web.listen-address", listen, *flags]
        super().__init__(command, environment)
        self.port = 0
        if listen.endswith(":0"):
            said = r'msg="Listening on".* address=127\.0\.0\.1:(\d+)'
            self.port = int(self.wait_for_match(said, self.errors))

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def get(
        self, path: str, method: str = "GET", headers: dict[str, str] = {}, seconds: float = 30
    ) -> Response:
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        with contextlib.closing(client):
            client.request(method, path, headers=headers)
            response = client.getresponse()
            fields = {name.title(): value for name, value in response.getheaders()}
            return Response(response.status, fields, response.read())

    def scrape(self) -> Exposition:
        response = self.get("/metrics")
        assert response.status == 200, response
        return Exposition(response.text)

    def figure(self, name: str, **labels: str) -> float:
        """The sum of the samples, without parsing the rest of a large page."""
        lines = re.findall(rb"^%s[ {].*" % name.encode(), self.get("/metrics").body, re.MULTILINE)
        wanted = [f'{label}="{value}"'.encode() for label, value in labels.items()]
        return sum(
            float(line.rsplit(b" ", 1)[1]) for line in lines if all(each in line for each in wanted)
        )

    def wait_for_figure(self, name: str, value: float, seconds: float = 60, **labels: str) -> None:
        wait_for(lambda: self.figure(name, **labels) == value, f"{name}{labels} {value}", seconds)

    def history(self, **query) -> dict:
        text = urllib.parse.urlencode(query, doseq=True)
        return self.get("/history.json" + (f"?{text}" if text else "")).json

    def wait_for_sample(
        self,
        name: str,
        value: float | None = None,
        seconds: float = 30,
        at_least: float = -math.inf,
        **labels: str,
    ) -> float:
        """Waits until the sample exists and has the value, or at least the given one."""

        def found() -> list[float]:
            samples = self.scrape().samples(name, **labels)[:1]
            return [each for _, each in samples if value in (None, each) and each >= at_least]

        wanted = f" = {value}" if value is not None else f" >= {at_least}"
        return wait_for(found, f"{name}{labels}{wanted}", seconds)[0]


class Feed(Program):
    """air-quality-feed as a server."""

    def __init__(
        self,
        path: pathlib.Path,
        arguments: tuple[str, ...],
        environment: dict[str, str] | None = None,
        listen: str = "127.0.0.1:0",
        launcher: tuple[str, ...] = (),
    ):
        command, *rest = arguments or ("simulate",)
        super().__init__([*launcher, str(path), command, "--listen", listen, *rest], environment)
        self.url = self.wait_for_match(r"listening on (ws://\S+)", self.output)
        self.port = int(re.search(r":(\d+)/", self.url)[1])


@dataclasses.dataclass
class Programs:
    folder: pathlib.Path

    def exporter(self, *flags: str, **options) -> Exporter:
        return Exporter(self.folder / "air-quality-exporter", flags, **options)

    def feed(self, *arguments: str, **options) -> Feed:
        return Feed(self.folder / "air-quality-feed", arguments, **options)

    def start(
        self, name: str, *arguments: str, environment=None, launcher: tuple[str, ...] = ()
    ) -> Program:
        """Starts a program with only these arguments; the launcher is a command that becomes the
        program."""
        return Program([*launcher, str(self.folder / name), *arguments], environment)

    def run(self, name: str, *arguments: str, seconds: float = 30, **options) -> Program:
        """Runs a program to its end."""
        program = self.start(name, *arguments, **options)
        program.wait(seconds)
        return program

    def rejection(self, name: str, *arguments: str, **options) -> str:
        """The one line with which a program rejects its arguments."""
        program = self.run(name, *arguments, **options)
        found = program.process.returncode, program.output, len(program.errors)
        assert found == (1, [], 1), program.errors
        return program.errors[0]
