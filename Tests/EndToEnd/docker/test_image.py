"""The image as people run it: read-only, without capabilities, as its own user."""

import json
import pathlib
import re
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from docker import engine, program_image, base_images
from docker.engine import podman
from support import metrics
from support.certificates import CertificateAuthority
from support.exposition import Exposition
from support.raw_feed import TEXT, RawFeed, frame
from support.waiting import wait_for

pytestmark = pytest.mark.container

STATE = "/var/lib/air-quality-exporter"
HARDENED = ["--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges"]
IDLE_TIMEOUT = 5
PROGRAMS = ["air-quality-exporter", "air-quality-feed"]

# Bytes. A bound, so that nothing slips in unseen: raise it knowingly.
PACKAGES_LIMIT = 45_000_000
PROGRAMS_LIMIT = 28_000_000


@pytest.fixture(scope="module")
def image() -> str:
    return program_image.build()


@pytest.fixture(scope="module")
def configuration(image) -> dict:
    return engine.inspect(image)["Config"]


@pytest.fixture(scope="module")
def inside(image):
    """Runs a command in a container of the image."""

    def run(command: str, *arguments: str) -> str:
        return podman(
            "run",
            "--rm",
            *HARDENED,
            "--network",
            "none",
            "--entrypoint",
            command,
            image,
            *arguments,
        )

    return run


def test_the_image_runs_the_exporter_as_a_user_of_its_own(image, configuration):
    assert configuration["User"] == "65532:65532"
    assert configuration["Entrypoint"] == ["air-quality-exporter"]
    assert not configuration.get("Cmd")
    assert configuration["StopSignal"] == "SIGTERM"
    assert set(configuration["Volumes"]) == {STATE}
    assert set(configuration["ExposedPorts"]) == {"10025/tcp"}
    assert engine.inspect(image)["Healthcheck"]["Test"] == [
        "CMD",
        "air-quality-exporter",
        "healthcheck",
    ]


def test_labels_name_version_and_revision(configuration):
    labels = configuration["Labels"]
    prefix = "org.opencontainers.image."
    assert labels[prefix + "version"] == program_image.VERSION
    assert labels[prefix + "revision"] == program_image.REVISION
    assert labels[prefix + "licenses"] == "Apache-2.0"
    assert {prefix + name for name in ("title", "description", "created")} <= set(labels)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_knows_what_it_was_built_from(inside, program):
    answer = inside(program, "--version")
    assert program_image.VERSION in answer and program_image.REVISION in answer


@pytest.fixture(scope="module")
def files(image):
    """The root of the image's file system."""
    yield pathlib.Path(podman("image", "mount", image))
    podman("image", "umount", image)


class PackageList:
    """What a scanner sees: the files of dpkg in the image."""

    def __init__(self, root: pathlib.Path):
        folder = root / "var/lib/dpkg"
        self.names = set()
        for paragraph in (folder / "status").read_text().split("\n\n"):
            fields = dict(re.findall(r"^(\S+): (.*)$", paragraph, re.MULTILINE))
            if fields.get("Status") == "install ok installed" and fields["Version"]:
                self.names.add(fields["Package"])
        self._owners = {
            path: file.stem.split(":")[0]
            for file in (folder / "info").glob("*.list")
            for path in file.read_text().splitlines()
        }

    def owner(self, path: str) -> str | None:
        """The package of a file, under either of its names since /lib is a link to /usr/lib."""
        return (
            self._owners.get(path)
            or self._owners.get("/usr" + path)
            or self._owners.get(path.removeprefix("/usr"))
        )


@pytest.fixture(scope="module")
def packages(files) -> PackageList:
    return PackageList(files)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_scanner_sees_the_package_of_every_library(inside, files, packages, program):
    # What ldd does, which is a shell script.
    lines = inside(
        "/lib64/ld-linux-x86-64.so.2", "--list", f"/usr/local/bin/{program}"
    ).splitlines()
    # The first is the kernel's, in no file.
    paths = {words[-2] for words in map(str.split, lines) if "linux-vdso.so.1" not in words}
    assert len(paths) > 20 and all(path.startswith("/") for path in paths), lines
    for path in paths:
        owner = packages.owner(path) or packages.owner(
            str(pathlib.Path(path).parent / (files / path[1:]).readlink())
        )
        assert owner in packages.names, f"{path} is of {owner}"


def test_the_packages_of_the_image_are_whole(files, packages):
    """As `dpkg --verify` sees it, but for the documentation that the base leaves out."""
    lines = engine.run("dpkg", f"--root={files}", "--verify", "--verify-format", "rpm").splitlines()
    left_out = re.compile(rf" /({'|'.join(base_images.SLIM_EXCLUDES)})(/|$)")
    assert [line for line in lines if not left_out.search(line)] == []


def test_every_file_of_the_image_is_of_a_package_or_ours(files, packages):
    ours = {f"/usr/local/bin/{program}" for program in PROGRAMS}
    made = ("/etc/ssl/certs/", "/var/lib/dpkg/", "/etc/nsswitch.conf")
    for path in files.rglob("*"):
        name = "/" + str(path.relative_to(files))
        if path.is_file() and not path.is_symlink() and not name.startswith(made):
            assert name in ours or packages.owner(name), f"{name} is of no package"


@pytest.mark.parametrize("name", ["sh", "bash", "apt-get", "dpkg", "perl"])
def test_the_image_has_no_shell_and_no_package_manager(files, name):
    assert [path for path in files.rglob(name) if path.is_file()] == []


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_in_the_image_is_stripped(files, program):
    sections = engine.run(
        "readelf", "--section-headers", "--wide", files / "usr/local/bin" / program
    )
    assert ".symtab" not in sections and ".debug_" not in sections


def test_the_image_is_no_larger_than_a_bound(image):
    layers = json.loads(podman("history", "--format", "json", image))
    # Newest first: the programs, the state's folder, the packages.
    programs, _, packages = [layer["size"] for layer in layers if "COPY" in layer["CreatedBy"]]
    print(f"image: packages {packages}, programs {programs} bytes")
    assert 0 < packages < PACKAGES_LIMIT
    assert 0 < programs < PROGRAMS_LIMIT


def test_the_image_without_a_feed_says_what_to_set(image):
    with pytest.raises(engine.Failed, match="(?s)--feed.url.*--feed.demo"):
        podman("run", "--rm", *HARDENED, "--network", "none", image)


def test_a_feed_is_trusted_by_the_authorities_of_the_image(image, files, tmp_path):
    trusted = "/etc/ssl/certs/ca-certificates.crt"
    assert (files / trusted[1:]).read_text().count("BEGIN CERTIFICATE") > 100
    authority = CertificateAuthority(tmp_path / "authority")
    context = authority.issue("feed").server_context()

    def behave(peer):
        peer.secure(context)
        peer.open()
        peer.send(frame(TEXT, b'[{"city":"Delhi","aqi":100}]'))
        peer.feed.is_stopping.wait(600)

    with RawFeed(behave) as feed:
        for arguments, wanted in ((["--volume", f"{authority.file}:{trusted}:ro"], 1), ([], 0)):
            name = podman(
                "run",
                "--detach",
                "--network",
                "host",
                *HARDENED,
                *arguments,
                "--env",
                f"AIR_QUALITY_EXPORTER_FEED_URL=wss://127.0.0.1:{feed.port}/",
                "--env",
                "AIR_QUALITY_EXPORTER_FEED_RECONNECT_MAX=1s",
                "--env",
                "AIR_QUALITY_EXPORTER_WEB_LISTEN_ADDRESS=127.0.0.1:0",
                image,
            )
            try:

                def listening() -> re.Match | None:
                    command = ["podman", "logs", name]  # noqa: B023
                    log = subprocess.run(
                        command,
                        env=engine.environment(),
                        stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT,
                        text=True,
                    ).stdout
                    return re.search(r"Listening.*127\.0\.0\.1:([1-9]\d*)", log)

                port = wait_for(listening, "an address")[1]

                def page() -> Exposition:
                    with urllib.request.urlopen(
                        f"http://127.0.0.1:{port}/metrics", timeout=10
                    ) as response:  # noqa: B023
                        return Exposition(response.read().decode())

                if wanted:
                    wait_for(lambda: page().value(metrics.CONNECTED) == 1, "a connection")
                else:
                    wait_for(
                        lambda: page().value(metrics.DISCONNECTS, reason="tls") >= 1, "a refusal"
                    )
            finally:
                podman("rm", "--force", "--time", "0", "--volumes", name)


class Life:
    """An exporter and its feed on a network of their own."""

    NETWORK, VOLUME, FEED, EXPORTER = (
        f"air-quality-test-{name}" for name in ("network", "volume", "feed", "exporter")
    )

    def __init__(self, image: str):
        self.image = image
        self.remove()
        podman("network", "create", self.NETWORK)
        podman("volume", "create", self.VOLUME)
        self.start_exporter()

    def start_exporter(self) -> None:
        podman(
            "run",
            "--detach",
            "--name",
            self.EXPORTER,
            "--network",
            self.NETWORK,
            *HARDENED,
            "--volume",
            f"{self.VOLUME}:{STATE}",
            "--env",
            f"AIR_QUALITY_EXPORTER_FEED_URL=ws://{self.FEED}:8765/",
            "--env",
            f"AIR_QUALITY_EXPORTER_FEED_IDLE_TIMEOUT={IDLE_TIMEOUT}s",
            "--env",
            "AIR_QUALITY_EXPORTER_FEED_RECONNECT_MAX=1s",
            "--env",
            "AIR_QUALITY_EXPORTER_HISTORY_INTERVAL=1s",
            self.image,
        )
        self.address = engine.address(self.EXPORTER, self.NETWORK)

    def start_feed(self) -> None:
        podman(
            "run",
            "--detach",
            "--name",
            self.FEED,
            "--network",
            self.NETWORK,
            *HARDENED,
            "--entrypoint",
            "air-quality-feed",
            self.image,
            "simulate",
            "--listen",
            "0.0.0.0:8765",
            "--cities",
            "12",
            "--interval",
            "500ms",
        )

    def remove(self) -> None:
        podman("rm", "--force", "--ignore", "--time", "0", "--volumes", self.EXPORTER, self.FEED)
        podman("volume", "rm", "--force", self.VOLUME, status=None)
        podman("network", "rm", "--force", self.NETWORK, status=None)

    def get(self, path: str) -> tuple[int, str]:
        """Status and text; an error status is an answer too."""
        try:
            with urllib.request.urlopen(
                f"http://{self.address}:10025{path}", timeout=10
            ) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def page(self) -> Exposition:
        status, text = self.get("/metrics")
        assert status == 200
        return Exposition(text)

    def points(self) -> list[dict]:
        return json.loads(self.get("/history.json")[1])["points"]

    def check(self) -> bool:
        """Runs the image's health check, as a timer would; true when it passes."""
        podman("healthcheck", "run", self.EXPORTER, status=None)
        return self.health()[1] == 0

    def health(self) -> tuple[str, int | None]:
        """The health status and the status of the last check."""
        state = engine.inspect(self.EXPORTER)["State"]
        health = state.get("Health") or state["Healthcheck"]
        return health["Status"], (health["Log"] or [{"ExitCode": None}])[-1]["ExitCode"]

    def wait_for_health(self, wanted: str) -> None:
        def ask():
            self.check()
            return self.health()[0] == wanted

        wait_for(ask, f"health {wanted}", 180, 0.1)


@pytest.fixture(scope="class")
def life(image):
    life = Life(image)
    yield life
    life.remove()


@pytest.mark.story
class TestLife:
    """From start to end."""

    def test_the_exporter_serves_before_there_is_a_feed(self, life):
        wait_for(lambda: life.get("/metrics")[0] == 200, "a page of metrics")
        assert set(life.page().by(metrics.CONNECTED, "feed").values()) == {0}
        assert not life.check(), "without a feed it cannot be ready"
        assert life.health()[0] == "starting"

    def test_the_container_becomes_healthy_with_the_feed(self, life):
        life.start_feed()
        life.wait_for_health("healthy")
        wait_for(lambda: len(life.page().samples(metrics.INDEX)) == 12, "all cities")
        assert all(0 <= value <= 9999 for value in life.page().by(metrics.INDEX, "city").values())

    def test_the_process_has_no_rights(self, life):
        process = pathlib.Path("/proc", str(engine.inspect(life.EXPORTER)["State"]["Pid"]))
        status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
        assert status["Uid"].split() == ["65532"] * 4
        assert status["Gid"].split() == ["65532"] * 4
        capabilities = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
        assert {name: int(status[name], 16) for name in capabilities} == dict.fromkeys(
            capabilities, 0
        )
        assert status["NoNewPrivs"].strip() == "1"
        mounts = {
            fields[4]: fields[5].split(",")
            for fields in map(str.split, (process / "mountinfo").read_text().splitlines())
        }
        assert "ro" in mounts["/"] and "rw" in mounts[STATE]

    def test_a_silent_feed_makes_it_unhealthy_after_the_limit(self, life):
        before = time.monotonic()
        podman("kill", "--signal", "STOP", life.FEED)
        assert life.check(), "a feed may be silent for a while"
        wait_for(lambda: not life.check(), "a failing check", 120, 0.1)
        # The last message is at most one interval older than the silence.
        assert time.monotonic() - before > IDLE_TIMEOUT - 1
        life.wait_for_health("unhealthy")
        page = life.page()
        assert len(page.samples(metrics.INDEX)) == 12, "the last readings stay"
        assert page.value(metrics.DISCONNECTS, reason="idle") >= 1

    def test_the_container_becomes_healthy_again(self, life):
        podman("kill", "--signal", "CONT", life.FEED)
        life.wait_for_health("healthy")

    def test_a_dead_feed_makes_it_unhealthy(self, life):
        podman("kill", life.FEED)
        life.wait_for_health("unhealthy")
        assert set(life.page().by(metrics.CONNECTED, "feed").values()) == {0}

    def test_the_exporter_ends_with_status_0_and_keeps_its_readings(self, life):
        points = life.points()
        assert len(points) >= 12
        podman("kill", "--signal", "TERM", life.EXPORTER)
        assert podman("wait", life.EXPORTER) == "0"
        podman("rm", life.EXPORTER)
        life.start_exporter()
        wait_for(lambda: life.get("/history.json")[0] == 200, "a history")
        assert life.points() == points

    def test_the_volume_can_be_saved_and_put_back(self, life, tmp_path):
        """The two commands of the README, with podman's names."""
        points = life.points()
        podman("stop", "--time", "30", life.EXPORTER)
        assert engine.inspect(life.EXPORTER)["State"]["ExitCode"] == 0
        archive = tmp_path / "readings.tar"
        engine.run("sh", "-c", f"podman cp {life.EXPORTER}:{STATE}/. - > {archive}")
        podman("rm", life.EXPORTER)
        podman("volume", "rm", life.VOLUME)
        podman("volume", "create", life.VOLUME)
        life.start_exporter()
        podman("stop", "--time", "30", life.EXPORTER)
        engine.run("sh", "-c", f"podman cp - {life.EXPORTER}:{STATE} < {archive}")
        podman("start", life.EXPORTER)
        life.address = engine.address(life.EXPORTER, life.NETWORK)
        wait_for(lambda: life.get("/history.json")[0] == 200, "a history")
        assert life.points() == points
