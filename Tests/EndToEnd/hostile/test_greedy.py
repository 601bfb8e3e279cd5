"""A thousand busy connections: a scrape from another address is not delayed, and no resources are
leaked."""

import base64
import collections
import contextlib
import threading
import time

import pytest

from support import greedy, metrics
from support.memory import returns_memory
from support.raw_http import abort, connect, get
from support.storage_files import storage_file
from support.waiting import wait_for
from support.web_configuration import HASHES

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("limits of time")]

#: Extra seconds that a scrape may take beside the others: 0.1 is promised, but these tests share
#: their machine.
DELAY = 0.3


def restored(programs, folder, cities: int):
    file = folder / "history.db"
    storage_file(file, cities, points=25)
    exporter = programs.exporter(
        "--feed.url", "ws://127.0.0.1:9/", "--storage.file", str(file), "--city.expire-after", "0"
    )
    exporter.wait_for_sample(metrics.CITIES, cities, 120)
    return exporter


@pytest.fixture(scope="module")
def exporter(programs, tmp_path_factory):
    exporter = restored(programs, tmp_path_factory.mktemp("greedy"), 2000)
    yield exporter
    assert exporter.stop() is None


@pytest.fixture(scope="module")
def alone(exporter) -> float:
    """The seconds that the longest scrape takes without other clients."""
    return max(greedy.alone(exporter.port))


@pytest.mark.parametrize("attack", greedy.ATTACKS)
def test_a_thousand_busy_connections_do_not_delay_scrapes_of_others(exporter, alone, attack):
    before = exporter.descriptor_count
    with returns_memory(exporter):
        times = sorted(greedy.beside(exporter.port, attack))
    slow = times[int(len(times) * 0.99)]
    print(f"{attack}: alone {alone * 1000:.0f} ms, beside {slow * 1000:.0f} ms")
    assert slow < alone + DELAY
    wait_for(lambda: exporter.descriptor_count <= before + 2, "the end of all connections")
    # The attacking address is served again.
    assert get(exporter.port, "/history.json?limit=1", greedy.ADDRESS).status == 200


def test_permits_of_disconnected_clients_are_returned(exporter):
    with returns_memory(exporter):
        for number in range(400):
            client = connect(exporter.port, source=greedy.ADDRESS)
            client.sendall(f"GET /history.json?since={number} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            abort(client) if number % 2 else client.close()

    def is_served() -> bool:
        with connect(exporter.port, source=greedy.ADDRESS) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return client.recv(100).startswith(b"HTTP/1.1 200 ")

    wait_for(is_served, "a permit")
    assert exporter.scrape().value(metrics.IN_FLIGHT) == 1


def test_one_address_cannot_take_all_places_for_listeners(start):
    exporter = start.exporter("--feed.demo")
    request = b"GET /events HTTP/1.1\r\nHost: x\r\n\r\n"
    listeners = [connect(exporter.port, source=greedy.ADDRESS) for _ in range(70)]
    statuses = []
    for client in listeners:
        client.sendall(request)
        statuses.append(client.recv(12))
    assert statuses.count(b"HTTP/1.1 200") == 64 and statuses.count(b"HTTP/1.1 503") == 6
    with connect(exporter.port) as other:
        other.sendall(request)
        assert other.recv(100).startswith(b"HTTP/1.1 200 ")
    for client in listeners:
        client.close()
    exporter.wait_for_sample("airquality_exporter_event_listeners", 0)


#: A check of it takes a fifth of a second.
COST_12 = "$2b$12$abcdefghijklmnopqrstuuaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"


def credentials(text: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(text.encode()).decode()}


@pytest.mark.xfail(
    strict=False,
    reason="at most 20 checks are ahead, two at a time, but on a busy machine two at a time take "
    "twice as long: 17 to 22 checks were measured there",
)
def test_the_right_password_is_accepted_despite_guesses_from_twenty_addresses(start, tmp_path):
    users = f"basic_auth_users: {{alice: {COST_12}, bob: {HASHES['secret']}}}\n"
    (tmp_path / "web.yml").write_text(users)
    exporter = start.exporter("--feed.demo", "--web.config.file", str(tmp_path / "web.yml"))
    began = time.monotonic()
    for number in range(3):
        assert exporter.get("/metrics", headers=credentials(f"alice:{number}")).status == 401
    check = (time.monotonic() - began) / 3
    is_over = threading.Event()
    statuses = collections.Counter()

    def guess(address: str) -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            # No two are alike, because equal ones would share a check.
            field = credentials(f"alice:{threading.get_ident()} {number}")["Authorization"]
            request = (
                f"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: {field}\r\nConnection: close\r\n\r\n"
            )
            with contextlib.suppress(OSError), connect(exporter.port, source=address) as client:
                client.sendall(request.encode())
                statuses[client.recv(12)] += 1

    addresses = [f"127.0.1.{number}" for number in range(1, 21)]
    # Three per address: one is checked at a time, the others wait.
    guessers = [threading.Thread(target=guess, args=(address,)) for address in addresses * 3]
    for guesser in guessers:
        guesser.start()
    try:
        time.sleep(2 * check)
        began = time.monotonic()
        assert exporter.get("/metrics", headers=credentials("bob:secret"), seconds=60).status == 200
        waited = time.monotonic() - began
        print(
            f"a check takes {check * 1000:.0f} ms, the right password waited {waited * 1000:.0f} ms"
        )
        assert waited < 20 * check + 1
        for _ in range(20):
            began = time.monotonic()
            assert exporter.get("/metrics", headers=credentials("bob:secret")).status == 200
            assert time.monotonic() - began < DELAY
        assert exporter.get("/-/healthy").status == 200
    finally:
        is_over.set()
        for guesser in guessers:
            guesser.join()
    assert set(statuses) <= {b"HTTP/1.1 429", b"HTTP/1.1 401", b""}
