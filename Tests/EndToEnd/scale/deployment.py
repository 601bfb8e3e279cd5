"""docker/scale as processes of this machine: its own files and commands, with other addresses and folders."""

import json
import pathlib
import re
import shutil
import socket
import sys
import urllib.parse
import urllib.request

import yaml

from support.programs import Program
from support.waiting import wait_for

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / "docker" / "scale"
SHARDS = 4
REPLICAS = ("a", "b")
#: Debian's programs that it takes: haproxy, victoria-metrics (with vmagent), prometheus where it is the agent.
NEEDED = ("haproxy", "victoria-metrics", "vmagent")


def missing() -> list[str]:
    return [name for name in NEEDED if not shutil.which(name) and not pathlib.Path("/usr/sbin", name).exists()]


def composed() -> dict:
    """The services of compose.yaml, with the values of .env."""
    lines = (FOLDER / ".env").read_text().splitlines()
    values = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    text = re.sub(r"\$\{(\w+)(?::-[^}]*)?\}", lambda match: values[match[1]], (FOLDER / "compose.yaml").read_text())
    return yaml.safe_load(text)["services"]


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class Deployment:
    """All of it; `kill` and `start` take the names of the services."""

    def __init__(
        self, programs: pathlib.Path, folder: pathlib.Path, cities: int, feed_interval: float, scrape_interval: int,
        warm_up: int = 10, agent: str = "vmagent",
    ):  # fmt: skip
        self.programs, self.folder, self.cities = programs, folder, cities
        self.feed_interval, self.scrape_interval, self.warm_up = feed_interval, scrape_interval, warm_up
        self.agent = agent
        self.services = composed()
        self.log = folder / "sent"
        self.exporters = [f"exporter-{shard}-{replica}" for shard in range(SHARDS) for replica in REPLICAS]
        names = ["feed", "relay", "relay-metrics", *self.exporters]
        names += [f"{kind}-{replica}" for kind in ("victoriametrics", "agent") for replica in REPLICAS]
        names += [f"proxy-{replica}:{shard}" for replica in REPLICAS for shard in range(SHARDS)]
        self.ports = dict(zip(names, free_ports(len(names))))
        self._running: dict[str, Program] = {}

    # MARK: What ships, with this machine's addresses

    def _addresses(self, text: str, replica: str = "") -> str:
        """Hosts and ports of the services, by those of their processes."""

        def here(match: re.Match) -> str:
            host, port = match.groups()
            port = int(port)
            key = f"proxy-{replica}:{port - 10030}" if host == "proxy" else host
            if (host, port) == ("relay", 10026):
                key = "relay-metrics"
            return f"127.0.0.1:{self.ports[key]}"

        return re.sub(r"\b(exporter-\d-[ab]|proxy|relay|feed|victoriametrics-[ab]):(\d+)", here, text)

    def _file(self, name: str, replica: str) -> pathlib.Path:
        text = (FOLDER / name).read_text()
        text = re.sub(
            r"bind :(\d+)", lambda match: f"bind 127.0.0.1:{self.ports[f'proxy-{replica}:{int(match[1]) - 10030}']}", text)
        text = text.replace("scrape_interval: 10s", f"scrape_interval: {self.scrape_interval}s")
        text = text.replace("scrape_timeout: 8s", f"scrape_timeout: {800 * self.scrape_interval}ms")
        made = self.folder / f"{replica}-{name}"
        made.write_text(self._addresses(text, replica))
        return made

    def _command(self, name: str) -> tuple[list[str], dict[str, str]]:
        kind, _, rest = name.partition("-")
        replica = rest[-1:]
        service = self.services[name] if name != "feed" else {}
        data = self.folder / name
        data.mkdir(exist_ok=True)
        if kind == "feed":
            script = pathlib.Path(__file__).with_name("feed.py")
            command = [sys.executable, script, self.ports[name], self.cities, self.feed_interval, self.log]
            return [str(part) for part in command], {}
        if kind == "relay":
            flags = [self._addresses(part) for part in service["command"]]
            flags[flags.index("--listen") + 1] = f"127.0.0.1:{self.ports[name]}"
            flags[flags.index("--web.listen-address") + 1] = f"127.0.0.1:{self.ports['relay-metrics']}"
            return [str(self.programs / "air-quality-feed"), *flags], {}
        if kind == "exporter":
            settings = {key: self._addresses(str(value)) for key, value in service["environment"].items()}
            settings["AIR_QUALITY_EXPORTER_STORAGE_FILE"] = str(data / "readings.sqlite")
            assert settings["AIR_QUALITY_EXPORTER_FEED_WARM_UP"] == "10s"
            settings["AIR_QUALITY_EXPORTER_FEED_WARM_UP"] = f"{self.warm_up}s"
            settings["AIR_QUALITY_EXPORTER_WEB_LISTEN_ADDRESS"] = f"127.0.0.1:{self.ports[name]}"
            return [str(self.programs / "air-quality-exporter")], settings
        if kind == "proxy":
            program = shutil.which("haproxy") or "/usr/sbin/haproxy"
            return [program, "-db", "-f", str(self._file("haproxy.cfg", replica))], {}
        listen = f"127.0.0.1:{self.ports[name]}"
        if kind == "agent" and self.agent == "prometheus":
            flags = self.services[f"prometheus-agent-{replica}"]["command"]
            paths = {"/etc/agent/prometheus-agent.yml": str(self._file("prometheus-agent.yml", replica)), "/agent": str(data)}
            flags = [*flags, f"--web.listen-address={listen}"]
            return ["prometheus", *self._moved(flags, paths)], {"AGENT": replica}
        if kind == "agent":
            paths = {"/etc/agent/agent.yml": str(self._file("agent.yml", replica)), "/agent": str(data)}
            return ["vmagent", *self._moved(service["command"], paths), f"-httpListenAddr={listen}"], {}
        dedup = "-dedup.minScrapeInterval=10s"
        assert dedup in service["command"]
        flags = [each for each in service["command"] if each != dedup]
        flags += [f"-dedup.minScrapeInterval={self.scrape_interval}s", f"-httpListenAddr={listen}"]
        return ["victoria-metrics", *self._moved(flags, {"/storage": str(data)})], {}

    def _moved(self, flags: list[str], paths: dict[str, str]) -> list[str]:
        def moved(flag: str) -> str:
            name, equals, value = flag.partition("=")
            return name + equals + paths.get(value, self._addresses(value))

        return [moved(flag) for flag in flags]

    # MARK: Starting and killing

    def start(self, *names: str) -> None:
        for name in names:
            command, environment = self._command(name)
            self._running[name] = Program(command, environment)
        for name in names:
            wait_for(lambda: self._answers(name), f"{name} to listen", 60, pause=0.05)

    def kill(self, *names: str) -> None:
        """With SIGKILL."""
        for name in names:
            self._running[name].kill()

    @property
    def running(self) -> list[str]:
        return [name for name, program in self._running.items() if program.is_running]

    def start_all(self) -> None:
        self.start("feed", "relay", *(f"victoriametrics-{replica}" for replica in REPLICAS))
        self.start(*self.exporters)
        self.start(*(f"proxy-{replica}" for replica in REPLICAS))
        self.start(*(f"agent-{replica}" for replica in REPLICAS))

    def stop_all(self) -> None:
        for program in self._running.values():
            if program.is_running:
                program.kill()

    def _answers(self, name: str) -> bool:
        program = self._running[name]
        if not program.is_running:
            raise SystemExit(f"{name} ended:\n" + "\n".join(program.errors[-20:]))
        port = self.ports[f"{name}:0" if name.startswith("proxy") else name]
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True

    def dead(self) -> list[str]:
        """Services that ended by themselves."""
        return [name for name, program in self._running.items() if program.process.poll() not in (None, -9)]

    def cpu_seconds(self) -> dict[str, float]:
        """Of what runs now."""
        spent = {}
        for name, program in self._running.items():
            if program.is_running:
                fields = pathlib.Path(f"/proc/{program.pid}/stat").read_text().rsplit(")", 1)[1].split()
                spent[name] = (int(fields[11]) + int(fields[12])) / 100
        return spent

    # MARK: Asking the databases

    def get(self, replica: str, path: str, **parameters) -> bytes:
        query = urllib.parse.urlencode(parameters, doseq=True)
        address = f"http://127.0.0.1:{self.ports[f'victoriametrics-{replica}']}{path}?{query}"
        with urllib.request.urlopen(address, timeout=300) as response:
            return response.read()

    def query(self, replica: str, expression: str, **parameters) -> list[dict]:
        path = "/api/v1/query_range" if "start" in parameters else "/api/v1/query"
        return json.loads(self.get(replica, path, query=expression, nocache=1, **parameters))["data"]["result"]

    def number(self, replica: str, expression: str, **parameters) -> float:
        found = self.query(replica, expression, **parameters)
        return float(found[0]["value"][1]) if found else 0

    def samples(self, replica: str, selector: str) -> list[tuple[dict, list[tuple[float, float]]]]:
        """Each stored series: its labels, and times in seconds with values. What marks an end is no sample."""
        self.get(replica, "/internal/force_flush")
        found: dict[str, tuple[dict, list]] = {}
        # Not deduplicated; a series comes in several lines.
        for line in self.get(replica, "/api/v1/export", reduce_mem_usage=1, **{"match[]": selector}).splitlines():
            part = json.loads(line)
            labels = part["metric"]
            _, points = found.setdefault(json.dumps(labels, sort_keys=True), (labels, []))
            points += [
                (time / 1000, value) for time, value in zip(part["timestamps"], part["values"])
                if isinstance(value, (int, float)) and value == value
            ]  # fmt: skip
        return [(labels, sorted(points)) for labels, points in found.values()]
