"""Where the exporter listens: several addresses, IPv6, unix sockets, systemd's sockets and
notifications."""

import functools
import os
import pathlib
import re
import signal
import socket
import sys
import tempfile

import pytest

from support.curl import COULD_NOT_CONNECT, CurlError, curl
from support.programs import Program
from support.waiting import wait_for

INTERFACES = pathlib.Path("/proc/net/if_inet6")
needs_ipv6 = pytest.mark.skipif(
    not (INTERFACES.exists() and INTERFACES.read_text()), reason="this machine has no IPv6"
)


@pytest.fixture
def folder():
    """A folder with a path that is short enough for a unix socket."""
    with tempfile.TemporaryDirectory(prefix="aqe") as path:
        yield pathlib.Path(path)


@pytest.fixture
def run(start):
    """Starts the exporter with the given arguments."""
    return functools.partial(start.program, "air-quality-exporter", "--feed.demo")


def addresses(program: Program, count: int = 1) -> list[str]:
    """Waits for the lines that name the addresses."""

    def found() -> list[str]:
        said = r'msg="Listening on" address="?([^\s"]+)"?'
        return [match[1] for line in program.errors if (match := re.search(said, line))]

    wait_for(lambda: len(found()) >= count, "the lines that name the addresses")
    return found()


def serves(address: str) -> bool:
    if address.startswith("unix:"):
        page = curl("http://localhost/metrics", "--unix-socket", address.removeprefix("unix:"))
    else:
        page = curl(f"http://{address}/metrics")
    assert (page.status, b"airquality_exporter_build_info{" in page.body) == (200, True), page
    return True


def expect_one_line(program: Program, *parts: str) -> None:
    """The start was rejected with one line that contains these parts."""
    assert program.wait() != 0
    assert (program.output, len(program.errors)) == ([], 1), program.errors
    assert all(part in program.errors[0] for part in parts), program.errors


# MARK: Addresses


@needs_ipv6
def test_all_given_addresses_are_served_and_logged_in_order(run, folder):
    one, other = f"unix:{folder / 'a'}", f"unix:{folder / 'b'}"
    given = ["127.0.0.1:0", "[::1]:0", one, "127.0.0.2:0", other]
    found = addresses(run(*(f"--web.listen-address={each}" for each in given)), len(given))
    assert [re.sub(r":[1-9]\d*$", ":0", address) for address in found] == given
    assert all(serves(address) for address in found)


@needs_ipv6
@pytest.mark.parametrize("flag", [":0", "[::]:0"])
def test_a_wildcard_address_listens_on_ipv4_and_ipv6(run, flag):
    (address,) = addresses(run("--web.listen-address", flag))
    port = address.rsplit(":", 1)[1]
    assert all(serves(f"{host}:{port}") for host in ("127.0.0.1", "[::1]", "127.0.0.3"))


def test_a_loopback_address_does_not_listen_on_other_addresses(run):
    (address,) = addresses(run("--web.listen-address", "127.0.0.2:0"))
    assert serves(address)
    with pytest.raises(CurlError) as failure:
        curl(f"http://127.0.0.1:{address.rsplit(':', 1)[1]}/metrics")
    assert failure.value.status == COULD_NOT_CONNECT


@pytest.mark.parametrize(
    "address", ["192.0.2.1:0", "no-such-host.invalid:0", "unix:/no/such/folder/s"]
)
def test_an_address_that_cannot_be_bound_is_rejected_with_one_line(run, address):
    program = run("--web.listen-address", address)
    expect_one_line(program, "--web.listen-address: cannot listen on", address.removesuffix(":0"))


def test_a_port_in_use_is_rejected_with_one_line_and_leaves_no_socket_behind(run, programs, folder):
    (address,) = addresses(run("--web.listen-address", "127.0.0.1:0"))
    late = run("--web.listen-address", f"unix:{folder / 's'}", "--web.listen-address", address)
    expect_one_line(late, "--web.listen-address: cannot listen on", address, "in use", "such as")
    assert not (folder / "s").exists()
    assert serves(address)
    line = programs.rejection("air-quality-feed", "simulate", f"--listen={address}")
    assert f'--listen "{address}": expected a free address' in line


# MARK: unix sockets


def test_a_unix_socket_is_removed_on_shutdown(run, folder):
    program = run("--web.listen-address", f"unix:{folder / 's'}")
    assert serves(addresses(program)[0])
    assert (folder / "s").is_socket()
    program.signal(signal.SIGTERM)
    assert program.wait() == 0
    assert list(folder.iterdir()) == []


def test_the_unix_socket_of_a_killed_exporter_is_replaced(run, folder):
    flags = ("--web.listen-address", f"unix:{folder / 's'}")
    killed = run(*flags)
    addresses(killed)
    killed.kill()
    assert (folder / "s").is_socket()
    assert serves(addresses(run(*flags))[0])


def test_the_unix_socket_of_a_running_exporter_is_not_replaced(run, folder):
    flags = ("--web.listen-address", f"unix:{folder / 's'}")
    (address,) = addresses(run(*flags))
    expect_one_line(run(*flags), str(folder / "s"), "another process")
    assert serves(address)


def test_a_unix_socket_of_another_kind_is_not_replaced(run, folder):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams:
        datagrams.bind(str(folder / "s"))
        expect_one_line(run("--web.listen-address", f"unix:{folder / 's'}"), "wrong type")
    assert (folder / "s").is_socket()


def test_a_file_that_is_not_a_socket_is_not_replaced(run, folder):
    (folder / "s").write_text("precious")
    program = run("--web.listen-address", f"unix:{folder / 's'}")
    expect_one_line(program, str(folder / "s"), "not a socket")
    assert (folder / "s").read_text() == "precious"


# MARK: systemd

# Acts as systemd does for a socket unit (sd_listen_fds(3)): listens, and becomes the service with
# the sockets as descriptors from 3.
LAUNCHER = """
import os, socket, sys
separator = sys.argv.index("--")
sockets = []
for address in sys.argv[1:separator]:
    if address.startswith("/"):
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(address)
    else:
        listening = socket.socket()
        listening.bind((address, 0))
    listening.listen()
    sockets.append(os.dup2(listening.fileno(), 100 + len(sockets)))
for number, descriptor in enumerate(sockets, 3):
    os.dup2(descriptor, number)
    os.close(descriptor)
os.environ["LISTEN_FDS"] = str(len(sockets))
os.environ["LISTEN_PID"] = str(os.getpid())
command = sys.argv[separator + 1:]
os.execv(command[0], command)
"""


def test_sockets_from_systemd_are_served_and_not_removed(run, folder):
    launcher = (sys.executable, "-c", LAUNCHER, "127.0.0.1", str(folder / "s"), "127.0.0.2", "--")
    program = run("--web.systemd-socket", launcher=launcher)
    found = addresses(program, 3)
    hosts = [address.rpartition(":")[0] for address in found]
    assert hosts == ["127.0.0.1", "unix", "127.0.0.2"] and found[1] == f"unix:{folder / 's'}"
    assert all(serves(address) for address in found)
    program.signal(signal.SIGTERM)
    assert program.wait() == 0
    # systemd keeps listening on it.
    assert (folder / "s").is_socket()


def test_the_systemd_flag_without_sockets_from_systemd_is_rejected(run):
    expect_one_line(run("--web.systemd-socket"), "systemd")
    foreign = {"LISTEN_FDS": "1", "LISTEN_PID": "1"}
    expect_one_line(run("--web.systemd-socket", environment=foreign), "systemd")


def test_a_systemd_socket_that_does_not_listen_is_rejected(run):
    script = LAUNCHER.replace("    listening.listen()\n", "")
    launcher = (sys.executable, "-c", script, "127.0.0.1", "--")
    program = run("--web.systemd-socket", launcher=launcher)
    expect_one_line(program, "descriptor 3", "not a listening")


@pytest.fixture(params=["path", "abstract"])
def notifications(request, folder):
    """The socket on which systemd listens for its services."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        paths = {"path": str(folder / "notify"), "abstract": f"\0aqe-notify-{os.getpid()}"}
        name = paths[request.param]
        listening.bind(name)
        listening.settimeout(30)
        yield listening, name.replace("\0", "@")


def test_systemd_is_notified_of_readiness_liveness_and_shutdown(run, notifications):
    listening, name = notifications
    environment = {"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "400000"}
    program = run("--web.listen-address=127.0.0.1:0", environment=environment)
    assert listening.recv(4096).decode().split("\n")[0] == "READY=1"
    # Ready means that it serves now.
    assert serves(addresses(program)[0])
    for _ in range(4):
        assert listening.recv(4096) == b"WATCHDOG=1"
    program.signal(signal.SIGTERM)
    while (message := listening.recv(4096)) == b"WATCHDOG=1":
        pass
    assert message == b"STOPPING=1"
    assert program.wait() == 0
    listening.settimeout(0)
    with pytest.raises(BlockingIOError):
        listening.recv(4096)


def test_a_failed_start_sends_no_notification(run, notifications):
    listening, name = notifications
    program = run("--web.listen-address=192.0.2.1:0", environment={"NOTIFY_SOCKET": name})
    expect_one_line(program, "192.0.2.1")
    listening.settimeout(0)
    with pytest.raises(BlockingIOError):
        listening.recv(4096)


def test_a_missing_notification_socket_does_not_disturb_the_exporter(run, folder):
    nobody = {"NOTIFY_SOCKET": str(folder / "nobody")}
    program = run("--web.listen-address=127.0.0.1:0", environment=nobody)
    assert serves(addresses(program)[0])
