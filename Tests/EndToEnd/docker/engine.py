"""The container engine of these tests: podman and buildah with their own store.

Everything that a sandboxed machine needs (runc, cgroupfs, limits that the kernel will grant) is in
configuration files that only these tests use, so the commands are the ordinary ones and the
machine's own images are not touched.
"""

import json
import os
import pathlib
import shutil
import subprocess

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
STORE = pathlib.Path(os.environ.get("CONTAINER_TEST_STORE", "/var/tmp/air-quality-containers"))

CONTAINERS_CONF = f"""\
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
network_config_dir = "{STORE}/networks"
"""

STORAGE_CONF = f"""\
[storage]
driver = "overlay"
graphroot = "{STORE}/storage"
runroot = "{STORE}/run"
"""

REGISTRIES_CONF = """\
unqualified-search-registries = ["docker.io"]
"""


class Failed(Exception):
    """A command that failed; the text contains its output."""


def prepare():
    """Checks the requirements and writes the configuration; must be called first."""
    if os.geteuid() != 0:
        raise Failed("the container tests need root: they make file systems and network namespaces")
    missing = [
        command
        for command in ("buildah", "podman", "runc", "debootstrap")
        if not shutil.which(command)
    ]
    if missing:
        raise Failed(f"missing {', '.join(missing)}: make docker installs what is needed")
    for folder in ("storage", "run", "networks"):
        (STORE / folder).mkdir(parents=True, exist_ok=True)
    (STORE / "containers.conf").write_text(CONTAINERS_CONF)
    (STORE / "storage.conf").write_text(STORAGE_CONF)
    (STORE / "registries.conf").write_text(REGISTRIES_CONF)


def environment():
    return os.environ | {
        "CONTAINERS_CONF": str(STORE / "containers.conf"),
        "CONTAINERS_STORAGE_CONF": str(STORE / "storage.conf"),
        "CONTAINERS_REGISTRIES_CONF": str(STORE / "registries.conf"),
        "BUILDAH_ISOLATION": "chroot",
        # The test runs each health check itself, because there is no systemd with timers here.
        "DISABLE_HC_SYSTEMD": "true",
    }


def run(*command, status=0, **options):
    """Runs a command and returns its standard output; an unexpected status is an error."""
    result = subprocess.run(
        [str(word) for word in command],
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )
    if status is not None and result.returncode != status:
        raise Failed(
            f"{' '.join(map(str, command))}: status {result.returncode}, expected {status}\n"
            f"{result.stdout[-4000:]}{result.stderr[-4000:]}"
        )
    return result.stdout.strip()


def podman(*arguments, **options):
    return run("podman", *arguments, **options)


def inspect(name):
    return json.loads(podman("inspect", name))[0]


def address(container, network=None):
    """The container's address on its (named) bridge network."""
    networks = inspect(container)["NetworkSettings"]["Networks"]
    return (networks[network] if network else next(iter(networks.values())))["IPAddress"]
