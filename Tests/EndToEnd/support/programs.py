"""The built programs as child processes."""

import dataclasses
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import urllib.parse

from support.answers import Answer
from support.exposition import Exposition
from support.waiting import wait_for


class Program:
    """A child process whose output is kept, line by line."""

    def __init__(self, command: list[str], environment: dict[str, str] | None = None):
        self.command = command
        self.output: list[str] = []
        self.errors: list[str] = []
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | (environment or {}),
        )
        self._readers = [
            threading.Thread(target=self._read, args=(stream, lines), daemon=True)
            for stream, lines in (
                (self.process.stdout, self.output),
                (self.process.stderr, self.errors),
            )
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
        """Ends the program with SIGTERM; says what was wrong with its end, if anything."""
        if self.is_running:
            self.signal(signal.SIGTERM)
            try:
                status = self.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
                return f"{self.command[0]} did not end within 30 s of SIGTERM:\n" + "\n".join(
                    self.errors[-20:]
                )
            if status != 0:
                return f"{self.command[0]} ended with status {status}:\n" + "\n".join(
                    self.errors[-40:]
                )
        report = [
            line
            for line in self.errors
            if "ERROR: " in line and "Sanitizer" in line or "WARNING: ThreadSanitizer" in line
        ]
        return "\n".join(self.errors) if report else None

    @property
    def messages(self) -> list[str]:
        """The messages of its log."""
        found = (re.search(r' msg=("(?:[^"\\]|\\.)*"|\S+)', line) for line in list(self.errors))
        return [
            json.loads(each[1]) if each[1].startswith('"') else each[1] for each in found if each
        ]

    def count_lines(self, words: str) -> int:
        """How many lines of its log have these words."""
        return sum(words in line for line in self.errors)

    # What the kernel says of the process.

    @property
    def resident_bytes(self) -> int:
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    @property
    def peak_resident_bytes(self) -> int:
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024

    @property
    def processor_seconds(self) -> float:
        """Of all threads that live, by the scheduler's clock, which counts nanoseconds."""
        tasks = pathlib.Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    @property
    def thread_count(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/task"))

    @property
    def descriptor_count(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))


class Exporter(Program):
    """The exporter on a free port; `log` are its lines."""

    def __init__(
        self,
        path: pathlib.Path,
        flags: tuple[str, ...],
        environment=None,
        listen: str = "127.0.0.1:0",
        launcher: tuple[str, ...] = (),
    ):
        super().__init__(
            [*launcher, str(path), "--web.listen-address", listen, *flags], environment
        )
        self.port = 0
        if listen.endswith(":0"):
            self.port = wait_for(self._find_port, "the line that names the exporter's address")

    def _find_port(self) -> int | None:
        for line in self.errors:
            if found := re.search(r'msg="Listening on".* address=127\.0\.0\.1:(\d+)', line):
                return int(found[1])
        if not self.is_running:
            raise AssertionError("the exporter ended:\n" + "\n".join(self.errors))
        return None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def get(
        self,
        path: str,
        method: str = "GET",
        headers: dict[str, str] | None = None,
        seconds: float = 30,
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request(method, path, headers=headers or {})
            response = connection.getresponse()
            return Answer(
                response.status, {k.title(): v for k, v in response.getheaders()}, response.read()
            )
        finally:
            connection.close()

    def scrape(self) -> Exposition:
        answer = self.get("/metrics")
        assert answer.status == 200, answer
        return Exposition(answer.text)

    def figure(self, name: str, **labels: str) -> float:
        """The sum of the samples, without a look at the rest of a large page."""
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
        self, name: str, value: float | None = None, seconds: float = 30, **labels: str
    ) -> float:
        """Waits until the sample is there, and has the value."""

        def found():
            samples = self.scrape().samples(name, **labels)
            if not samples or (value is not None and samples[0][1] != value):
                return None
            return samples

        return wait_for(found, f"{name}{labels} {value if value is not None else ''}", seconds)[0][
            1
        ]


class Feed(Program):
    """air-quality-feed, listening."""

    def __init__(
        self,
        path: pathlib.Path,
        arguments: tuple[str, ...],
        listen: str = "127.0.0.1:0",
        launcher: tuple[str, ...] = (),
    ):
        command, *rest = arguments or ("simulate",)
        super().__init__([*launcher, str(path), command, "--listen", listen, *rest])
        self.url = wait_for(self._find_address, "the line that names the feed's address")

    def _find_address(self) -> str | None:
        for line in self.output:
            if found := re.fullmatch(r"listening on (ws://\S+)", line):
                return found[1]
        if not self.is_running:
            raise AssertionError("the feed ended:\n" + "\n".join(self.errors))
        return None


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
        """Starts a program with no more than is given; the launcher is a command that becomes the
        program."""
        return Program([*launcher, str(self.folder / name), *arguments], environment)

    def run(self, name: str, *arguments: str, environment=None, seconds: float = 30) -> Program:
        """Runs a program to its end."""
        program = self.start(name, *arguments, environment=environment)
        program.wait(seconds)
        return program
