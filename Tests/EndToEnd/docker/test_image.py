"""The image as people run it: read-only, without capabilities, as its own user."""

import json
import pathlib
import re
import urllib.error
import urllib.request

import pytest

from docker import base_images, engine, program_image
from docker.engine import podman
from docker.test_packaging import publisher
from support import metrics
from support.certificates import CertificateAuthority
from support.exposition import Exposition
from support.raw_feed import TEXT, RawFeed, frame
from support.waiting import wait_for

pytestmark = pytest.mark.container

STATE = "/var/lib/air-quality-exporter"
HARDENED = ["--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges"]
PROGRAMS = ["air-quality-exporter", "air-quality-feed"]

# In bytes, so that nothing slips in unnoticed; raise them deliberately.
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
            "run", "--rm", *HARDENED, "--network", "none", "--entrypoint", command, image,
            *arguments,
        )

    return run


def test_the_image_runs_the_exporter_as_its_own_user(image, configuration):
    assert configuration["User"] == "65532:65532"
    assert configuration["Entrypoint"] == ["air-quality-exporter"]
    assert not configuration.get("Cmd")
    assert configuration["StopSignal"] == "SIGTERM"
    assert set(configuration["Volumes"]) == {STATE}
    assert set(configuration["ExposedPorts"]) == {"10025/tcp"}
    check = engine.inspect(image)["Healthcheck"]["Test"]
    # Not --ready: a supervisor that replaces unhealthy containers must not do so for a feed.
    assert check == ["CMD", "air-quality-exporter", "healthcheck"]


def test_labels_name_version_revision_and_publisher(configuration):
    labels = configuration["Labels"]
    prefix = "org.opencontainers.image."
    assert labels[prefix + "version"] == program_image.VERSION
    assert labels[prefix + "revision"] == program_image.REVISION
    assert labels[prefix + "licenses"] == "Apache-2.0"
    assert {prefix + name for name in ("title", "description", "created")} <= set(labels)
    for label, field in (("url", "HOMEPAGE"), ("source", "REPOSITORY"), ("vendor", "NAME")):
        assert labels[prefix + label] == publisher()[field]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_prints_its_version_and_revision(inside, program):
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
    # This is what ldd does, which is a shell script.
    lines = inside(
        "/lib64/ld-linux-x86-64.so.2", "--list", f"/usr/local/bin/{program}"
    ).splitlines()
    # The first one is the kernel's, which is not a file.
    paths = {words[-2] for words in map(str.split, lines) if "linux-vdso.so.1" not in words}
    assert len(paths) > 20 and all(path.startswith("/") for path in paths), lines
    for path in paths:
        owner = packages.owner(path) or packages.owner(
            str(pathlib.Path(path).parent / (files / path[1:]).readlink())
        )
        assert owner in packages.names, f"{path} is of {owner}"


def test_the_packages_of_the_image_are_unmodified(files, packages):
    """According to `dpkg --verify`, except the documentation that the base leaves out."""
    lines = engine.run("dpkg", f"--root={files}", "--verify", "--verify-format", "rpm").splitlines()
    left_out = re.compile(rf" /({'|'.join(base_images.SLIM_EXCLUDES)})(/|$)")
    assert [line for line in lines if not left_out.search(line)] == []


def test_every_file_of_the_image_belongs_to_a_package_or_is_ours(files, packages):
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


def test_the_image_stays_below_its_size_limits(image):
    layers = json.loads(podman("history", "--format", "json", image))
    # Newest first: the programs, the state's folder, the packages.
    programs, _, packages = [layer["size"] for layer in layers if "COPY" in layer["CreatedBy"]]
    print(f"image: packages {packages}, programs {programs} bytes")
    assert 0 < packages < PACKAGES_LIMIT
    assert 0 < programs < PROGRAMS_LIMIT


def test_the_image_without_a_feed_names_the_flags_to_set(image):
    with pytest.raises(engine.Failed, match="(?s)--feed.url.*--feed.demo"):
        podman("run", "--rm", *HARDENED, "--network", "none", image)


def test_a_feed_is_verified_with_the_authorities_of_the_image(image, files, tmp_path):
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
                "run", "--detach", "--network", "host", *HARDENED, *arguments,
                "--env", f"AIR_QUALITY_EXPORTER_FEED_URL=wss://127.0.0.1:{feed.port}/",
                "--env", "AIR_QUALITY_EXPORTER_FEED_RECONNECT_MAX=1s",
                "--env", "AIR_QUALITY_EXPORTER_WEB_LISTEN_ADDRESS=127.0.0.1:0", image,
            )
            try:

                def listening() -> re.Match | None:
                    # Standard error of the container is that of the command.
                    log = engine.run("sh", "-c", f"podman logs {name} 2>&1")  # noqa: B023
                    return re.search(r"Listening.*127\.0\.0\.1:([1-9]\d*)", log)

                url = f"http://127.0.0.1:{wait_for(listening, 'an address')[1]}/metrics"

                def page() -> Exposition:
                    with urllib.request.urlopen(url, timeout=10) as response:  # noqa: B023
                        return Exposition(response.read().decode())

                if wanted:
                    wait_for(lambda: page().value(metrics.CONNECTED) == 1, "a connection")
                else:
                    wait_for(lambda: page().value(metrics.DISCONNECTS, reason="tls"), "a rejection")
            finally:
                podman("rm", "--force", "--time", "0", "--volumes", name)
