"""A thousand busy connections: a scrape from another address is not delayed, and no resources are
leaked."""

import pytest

from support import greedy, metrics
from support.memory import returns_memory
from support.raw_http import abort, connect, get
from support.storage_files import storage_file
from support.waiting import wait_for

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
