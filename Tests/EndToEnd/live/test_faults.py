"""Faults of a source: each is logged once, other values stay, and polling recovers by itself."""

import pathlib
import shutil
import subprocess
import sys
import time

import pytest

from live import sources
from live.sources import HOUR, Response
from live.test_sources import AIR, DELHI, PUNE, open_meteo
from support.memory import within
from support.waiting import wait_for

QUICK = ("--interval=1s", "--timeout=2s")


def redirect(handler):
    handler.send(Response({}, 302, {"Location": "http://127.0.0.2:1/elsewhere"}))


# Initial faults of a source, and the resulting log lines. PollPlanTests has more cases,
# HTTPClientTests has responses that are truncated, too large or endless.
FAULTS = {
    "503": (Response({}, 503, {"Retry-After": "1"}), "reports a server error: status 503; trying"),
    "redirect": (redirect, "has no data for Delhi and 1 more: status 302, which redirects to "),
    "no response": (None, "cannot be reached ("),
    "error object": (
        Response({"error": {"code": 7, "message": "maintenance"}}),
        "reports a server error: maintenance; trying again",
    ),
    "another document": (
        Response({"message": "Limit Exceeded"}),
        "sent an unexpected response for Delhi and 1 more: "
        'it has 1 places, expected 2; its message: "Limit Exceeded"; trying again',
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_a_source_is_logged_once_and_recovered_from(name, start, serve, listen, cities):
    fault, line = FAULTS[name]

    def respond(path, query, headers):
        return fault if len(server.requests) <= 2 else good(path, query, headers)

    good = open_meteo()
    server = serve(respond)
    feed = start.feed("poll", f"--base-url={server.url}", cities(DELHI, PUNE), *QUICK)
    listener = listen(feed.url)
    assert listener.wait_for_city("Delhi")["aqi"] == 75
    wait_for(lambda: feed.messages[-1:] == ["open-meteo responds again"], "the all clear")
    assert feed.messages[0].startswith(f"open-meteo {line}")
    assert len(feed.messages) == 2
    # No wrong value was sent for a city.
    assert {e["aqi"] for e in listener.elements} == {75}


# In the second case, the source repeats the key that it was sent.
@pytest.mark.parametrize(
    "said, line", [("", ""), (": %61nother%2Dsecret\u009b31m\u202e", ": *** 31m ")]
)
@pytest.mark.parametrize("is_file", [True, False])
def test_a_wrong_key_is_reported_but_masked(start, serve, cities, tmp_path, said, line, is_file):
    key = tmp_path / "key"
    key.write_text("another-secret")
    server = serve(lambda *_: Response({"status": "error", "data": f"Invalid key{said}"}))
    flags = ["--source=waqi", f"--base-url={server.url}", cities(DELHI), *QUICK]
    if is_file:
        feed = start.feed("poll", *flags, f"--key-file={key}")
    else:
        variable = {"AIR_QUALITY_FEED_KEY": "another-secret"}
        feed = start.feed("poll", *flags, environment=variable)
    wait_for(lambda: len(server.requests) >= 3, "the third round")
    origin = f'--key-file "{key}"' if is_file else "AIR_QUALITY_FEED_KEY"
    rejected = f"waqi rejected the request: Invalid key{line} (the key is from {origin})"
    assert feed.messages == [f"{rejected}; trying again at the next interval"]


@pytest.mark.long
def test_a_source_that_goes_down_keeps_its_last_values_and_times(start, serve, listen, cities):
    """The values keep their times; later clients get them as well, and they are repeated every half
    minute.
    """
    observed_at = int(time.time()) // HOUR * HOUR - 2 * HOUR

    def respond(path, query, headers):
        if len(server.requests) > 1:
            return Response({}, 500)
        return Response(
            sources.open_meteo(query, lambda la, lo, p, t: AIR.get(p) if t <= observed_at else None)
        )

    server = serve(respond)
    feed = start.feed("poll", f"--base-url={server.url}", cities(DELHI), *QUICK)
    listener = listen(feed.url)
    element = listener.wait_for_city("Delhi")
    wait_for(lambda: len(feed.messages) == 1, "the line that it is down")
    late = listen(feed.url)
    assert late.wait_for_city("Delhi") == element
    listener.wait_for(lambda elements: len(elements) >= 2, "the heartbeat", 90)
    assert all(e == element and e["time"] == observed_at for e in listener.elements)
    assert len(feed.messages) == 1


def test_an_empty_message_is_sent_while_nothing_is_known_yet(start, cities, listen):
    """So that clients do not take it for a dead feed while there is no network."""
    feed = start.feed("poll", "--base-url=http://source.invalid", cities(DELHI), *QUICK)
    listener = listen(feed.url)
    wait_for(lambda: listener.messages == [[]], "the empty message")
    wait_for(lambda: feed.messages, "the line")
    assert feed.messages[0].startswith("open-meteo cannot be reached (Could not resolve host")


def test_poll_stops_at_once_while_the_source_does_not_respond(start, serve, cities):
    server = serve(lambda *_: None)
    feed = start.feed("poll", f"--base-url={server.url}", cities(DELHI), "--timeout=1h")
    wait_for(lambda: server.requests, "the request")
    assert feed.stop() is None


# Becomes a program whose name server accepts questions and never responds.
SILENT_NAME_SERVER = """
import fcntl, os, socket, struct, subprocess, sys
subprocess.run(["mount", "--bind", sys.argv[1], "/etc/resolv.conf"], check=True)
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(server, 0x8914, struct.pack("16sh14x", b"lo", 1))
server.bind(("127.0.0.1", 53))
server.set_inheritable(True)
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.fixture
def isolated():
    """A launcher with its own mounts and its own network."""
    command = ("unshare", "--mount", "--net")
    if subprocess.run([*command, "true"], check=False).returncode:
        pytest.skip("no namespaces here")
    return command


def test_poll_stops_at_once_while_a_name_server_does_not_respond(start, cities, tmp_path, isolated):
    (tmp_path / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:30 attempts:5\n")
    launcher = (*isolated, sys.executable, "-c", SILENT_NAME_SERVER, str(tmp_path / "resolv.conf"))
    flags = ("--base-url=http://source.example", cities(DELHI), "--timeout=1h")
    feed = start.feed("poll", *flags, launcher=launcher)
    sockets = pathlib.Path(f"/proc/{feed.pid}/net/udp")

    def has_question() -> bool:
        fields = [line.split() for line in sockets.read_text().splitlines()]
        return any(f[1] == "0100007F:0035" and not f[4].endswith(":00000000") for f in fields)

    wait_for(has_question, "the question")
    assert feed.stop() is None


def test_configured_authorities_replace_those_of_the_system(
    start, serve, listen, cities, authority, tmp_path, isolated
):
    server = serve(open_meteo(), authority.issue("source").server_context())
    folder = tmp_path / "certs"
    folder.mkdir()
    shutil.copy(authority.file, folder / "system.pem")
    other = folder / "ca-certificates.crt"
    make = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=Other -keyout /dev/null -out"
    subprocess.run([*make.split(), str(other)], check=True, capture_output=True)
    subprocess.run(["openssl", "rehash", str(folder)], check=True)
    mount = f'mount --bind {folder} /etc/ssl/certs && exec "$@"'
    launcher = (*isolated[:2], "sh", "-c", mount, "sh")
    flags = ("poll", f"--base-url={server.url}", cities(DELHI), *QUICK)
    feed = start.feed(*flags, launcher=launcher)
    assert listen(feed.url).wait_for_city("Delhi")["aqi"] == 75
    feed = start.feed(*flags, f"--ca-file={other}", launcher=launcher)
    wait_for(lambda: feed.messages, "the line")
    assert feed.messages[0].startswith("open-meteo cannot be reached (SSL"), feed.messages


def test_only_trusted_certificates_are_accepted(start, serve, listen, cities, authority, stranger):
    good = serve(open_meteo(), authority.issue("source").server_context())
    certificates = (
        stranger.issue("source"),
        authority.issue("old", is_expired=True),
        authority.issue("other", "DNS:feed.example"),
    )
    bad = [serve(open_meteo(), certificate.server_context()) for certificate in certificates]
    trust = f"--ca-file={authority.file}"
    feed = start.feed("poll", f"--base-url={good.url}", cities(DELHI), trust)
    assert listen(feed.url).wait_for_city("Delhi")["aqi"] == 75
    # The authorities of the system do not include ours.
    for url, *flags in ([good.url], *([server.url, trust] for server in bad)):
        feed = start.feed("poll", f"--base-url={url}", cities(DELHI), *flags, *QUICK)
        wait_for(lambda: feed.messages, "the line")  # noqa: B023
        assert feed.messages[0].startswith("open-meteo cannot be reached ("), feed.messages
    assert not any(server.requests for server in bad)


# Values of two bytes each, a text of 4 MiB, nested objects, many places.
HUGE = {
    "values": b"[" + b"1," * (2 << 20),
    "text": b'{"reason":"' + b"x" * ((4 << 20) - 100) + b'"}',
    "objects": b'{"a":' * 500_000,
    "places": b"[" + b'{"hourly":{"time":[]}},' * 150_000,
}


@pytest.mark.parametrize("source", ["open-meteo", "openaq", "waqi", "cpcb"])
def test_huge_responses_take_little_memory(source, start, serve, cities, key_file):
    """The shipped limit is 128 MiB."""
    bodies = [body[: (4 << 20) - 1] for body in HUGE.values()]
    server = serve(lambda *_: Response(body=bodies[len(server.requests) % len(bodies)]))
    feed = start.feed(
        "poll", f"--source={source}", f"--base-url={server.url}", cities(DELHI), key_file, *QUICK
    )
    wait_for(lambda: len(server.requests) > 2 * len(bodies), "two of each", 120)
    assert feed.peak_resident_bytes < within(96)
