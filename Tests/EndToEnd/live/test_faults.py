"""What goes wrong at a source: it is said once, the others' values stay, and the bridge goes on by
itself.
"""

import pathlib
import shutil
import subprocess
import sys
import time

import pytest

from live import sources
from live.sources import HOUR, Answer
from live.test_sources import AIR, DELHI, PUNE, open_meteo
from support.waiting import wait_for

QUICK = ("--interval=1s", "--timeout=2s")


def redirect(handler):
    handler.send(Answer({}, 302, {"Location": "http://127.0.0.2:1/elsewhere"}))


# Faults of a source at first, and what is said of them. PollPlanTests has more of them,
# HTTPClientTests responses that are cut off, too large or never end.
FAULTS = {
    "503": (Answer({}, 503, {"Retry-After": "1"}), "reports a server error: status 503; trying"),
    "redirect": (redirect, "has no data for Delhi and 1 more: status 302, which redirects to "),
    "hang before": (None, "cannot be reached ("),
    "error object": (
        Answer({"error": {"code": 7, "message": "maintenance"}}),
        "reports a server error: maintenance; trying again",
    ),
    "other words": (
        Answer({"message": "Limit Exceeded"}),
        "sends a response that is not as documented, for Delhi and 1 more: "
        'it has 1 places, expected 2; it says "Limit Exceeded"; trying again',
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_said_once_and_gone_through(name, start, serve, listen, cities):
    fault, line = FAULTS[name]

    def answer(path, query, headers):
        return fault if len(server.requests) <= 2 else good(path, query, headers)

    good = open_meteo()
    server = serve(answer)
    bridge = start.feed("poll", f"--base-url={server.url}", cities(DELHI, PUNE), *QUICK)
    listener = listen(bridge.url)
    assert listener.wait_for_city("Delhi")["aqi"] == 75
    wait_for(lambda: bridge.messages[-1:] == ["open-meteo responds again"], "the all clear")
    assert bridge.messages[0].startswith(f"open-meteo {line}")
    assert len(bridge.messages) == 2
    # Nothing was said of the cities that was not true.
    assert {e["aqi"] for e in listener.elements} == {75}


@pytest.mark.parametrize(
    "hourly, reason",
    [
        ({"time": [0], "pm2_5": [None], "pm10": [None]}, "no hour has a value"),
        ({"time": "soon"}, "[0].hourly.time has the wrong type"),
        (None, "[0].hourly.time is missing"),
    ],
)
def test_a_city_without_an_index_is_left_out_and_its_neighbour_is_not(
    start, serve, listen, cities, hourly, reason
):
    def answer(path, query, headers):
        places = open_meteo()(path, query, headers).document
        places[0] = {"hourly": hourly} if hourly else {"error": True}
        return Answer(places)

    bridge = start.feed("poll", f"--base-url={serve(answer).url}", cities(DELHI, PUNE), *QUICK)
    listener = listen(bridge.url)
    assert listener.wait_for_city("Pune")["aqi"] == 75
    wait_for(lambda: bridge.messages, "the reason")
    assert bridge.messages == [f"left out Delhi: {reason}"]
    assert all(e["city"] == "Pune" for e in listener.elements)


# The second one is of a source that repeats what it was sent.
@pytest.mark.parametrize(
    "said, line", [("", ""), (": %61nother%2Dsecret\u009b31m\u202e", ": *** 31m ")]
)
@pytest.mark.parametrize("is_file", [True, False])
def test_a_key_that_is_wrong(start, serve, cities, tmp_path, said, line, is_file):
    key = tmp_path / "key"
    key.write_text("another-secret")
    server = serve(lambda *_: Answer({"status": "error", "data": f"Invalid key{said}"}))
    flags = ["--source=waqi", f"--base-url={server.url}", cities(DELHI), *QUICK]
    if is_file:
        bridge = start.feed("poll", *flags, f"--key-file={key}")
    else:
        variable = {"AIR_QUALITY_FEED_KEY": "another-secret"}
        bridge = start.feed("poll", *flags, environment=variable)
    wait_for(lambda: len(server.requests) >= 3, "the third round")
    origin = f'--key-file "{key}"' if is_file else "AIR_QUALITY_FEED_KEY"
    rejected = f"waqi refuses: Invalid key{line} (the key is from {origin})"
    assert bridge.messages == [f"{rejected}; trying again at the next interval"]


@pytest.mark.long
def test_a_source_that_goes_down_leaves_the_last_values_and_their_age(start, serve, listen, cities):
    """The values are as old as they were; whoever comes later hears them, and each half minute they
    are said again.
    """
    observed_at = int(time.time()) // HOUR * HOUR - 2 * HOUR

    def answer(path, query, headers):
        if len(server.requests) > 1:
            return Answer({}, 500)
        return Answer(
            sources.open_meteo(query, lambda la, lo, p, t: AIR.get(p) if t <= observed_at else None)
        )

    server = serve(answer)
    bridge = start.feed("poll", f"--base-url={server.url}", cities(DELHI), *QUICK)
    listener = listen(bridge.url)
    element = listener.wait_for_city("Delhi")
    wait_for(lambda: len(bridge.messages) == 1, "the line that it is down")
    late = listen(bridge.url)
    assert late.wait_for_city("Delhi") == element
    listener.wait_for(lambda elements: len(elements) >= 2, "the heartbeat", 90)
    assert all(e == element and e["time"] == observed_at for e in listener.elements)
    assert len(bridge.messages) == 1


def test_nothing_known_yet_is_a_message_too(start, cities, listen):
    """So that a reader does not take the bridge for a dead feed while there is no network."""
    bridge = start.feed("poll", "--base-url=http://source.invalid", cities(DELHI), *QUICK)
    listener = listen(bridge.url)
    wait_for(lambda: listener.messages == [[]], "the empty message")
    wait_for(lambda: bridge.messages, "the line")
    assert bridge.messages[0].startswith("open-meteo cannot be reached (Could not resolve host")


def test_it_ends_at_once_while_the_source_hangs(start, serve, cities):
    server = serve(lambda *_: None)
    bridge = start.feed("poll", f"--base-url={server.url}", cities(DELHI), "--timeout=1h")
    wait_for(lambda: server.requests, "the request")
    assert bridge.stop() is None


# Becomes a program whose name server takes what it is asked, and says nothing.
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
    """A command that has mounts and a network of its own, and becomes another one."""
    command = ("unshare", "--mount", "--net")
    if subprocess.run([*command, "true"], check=False).returncode:
        pytest.skip("no namespaces here")
    return command


def test_it_ends_at_once_while_a_name_server_is_silent(start, cities, tmp_path, isolated):
    (tmp_path / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:30 attempts:5\n")
    launcher = (*isolated, sys.executable, "-c", SILENT_NAME_SERVER, str(tmp_path / "resolv.conf"))
    flags = ("--base-url=http://source.example", cities(DELHI), "--timeout=1h")
    bridge = start.feed("poll", *flags, launcher=launcher)
    sockets = pathlib.Path(f"/proc/{bridge.pid}/net/udp")

    def has_question() -> bool:
        fields = [line.split() for line in sockets.read_text().splitlines()]
        return any(f[1] == "0100007F:0035" and not f[4].endswith(":00000000") for f in fields)

    wait_for(has_question, "the question")
    assert bridge.stop() is None


def test_other_authorities_take_the_place_of_the_systems(
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
    bridge = start.feed(*flags, launcher=launcher)
    assert listen(bridge.url).wait_for_city("Delhi")["aqi"] == 75
    bridge = start.feed(*flags, f"--ca-file={other}", launcher=launcher)
    wait_for(lambda: bridge.messages, "the line")
    assert bridge.messages[0].startswith("open-meteo cannot be reached (SSL"), bridge.messages


def test_certificates(start, serve, listen, cities, authority, stranger):
    good = serve(open_meteo(), authority.issue("source").server_context())
    certificates = (
        stranger.issue("source"),
        authority.issue("old", is_expired=True),
        authority.issue("other", "DNS:feed.example"),
    )
    bad = [serve(open_meteo(), certificate.server_context()) for certificate in certificates]
    trust = f"--ca-file={authority.file}"
    bridge = start.feed("poll", f"--base-url={good.url}", cities(DELHI), trust)
    assert listen(bridge.url).wait_for_city("Delhi")["aqi"] == 75
    # The system's authorities do not know ours.
    for url, *flags in ([good.url], *([server.url, trust] for server in bad)):
        bridge = start.feed("poll", f"--base-url={url}", cities(DELHI), *flags, *QUICK)
        wait_for(lambda: bridge.messages, "the line")  # noqa: B023
        assert bridge.messages[0].startswith("open-meteo cannot be reached ("), bridge.messages
    assert not any(server.requests for server in bad)


# A value of two bytes each, a text of 4 MiB, objects in objects.
HUGE = {
    "values": b"[" + b"1," * (2 << 20),
    "text": b'{"reason":"' + b"x" * ((4 << 20) - 100) + b'"}',
    "objects": b'{"a":' * 500_000,
    "places": b"[" + b'{"hourly":{"time":[]}},' * 150_000,
}


@pytest.mark.parametrize("source", ["open-meteo", "openaq", "waqi", "cpcb"])
def test_a_huge_answer_costs_little_memory(source, start, serve, cities, key_file):
    """The shipped limit is 128 MiB."""
    bodies = [body[: (4 << 20) - 1] for body in HUGE.values()]
    server = serve(lambda *_: Answer(body=bodies[len(server.requests) % len(bodies)]))
    bridge = start.feed(
        "poll", f"--source={source}", f"--base-url={server.url}", cities(DELHI), key_file, *QUICK
    )
    wait_for(lambda: len(server.requests) > 2 * len(bodies), "two of each", 120)
    assert bridge.peak_resident_bytes < 96 << 20
