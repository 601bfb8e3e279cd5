"""Many reconnects, a dead feed, a flood: nothing grows, and nothing is lost."""

import dataclasses
import os
import threading
import time

import pytest

from support import metrics
from support.exposition import Exposition
from support.faults import CLOSED_PORT, answering, never_answer
from support.memory import IS_SANITIZED
from support.peers import WebSocketFeed
from support.programs import Exporter
from support.raw_feed import CLOSE, TEXT, Peer, RawFeed, frame, good, message
from support.waiting import wait_for

QUICK = ("--feed.reconnect-min=10ms", "--feed.reconnect-max=10ms")


@dataclasses.dataclass
class Use:
    """The resources that a process uses."""

    descriptors: int
    threads: int
    memory: int

    @classmethod
    def of(cls, exporter: Exporter) -> "Use":
        return cls(exporter.descriptor_count, exporter.thread_count, exporter.resident_bytes)


def check_no_growth(exporter: Exporter, before: Use, mib: int) -> None:
    """Connections that are still closing get the time that they may take."""
    # The thread sanitizer starts a symbolizer, with two pipes, if there is a report to suppress.
    descriptors = before.descriptors + (2 if "TSAN_OPTIONS" in os.environ else 0)
    wait_for(
        lambda: exporter.descriptor_count <= descriptors, f"not more than {descriptors} descriptors"
    )
    wait_for(
        lambda: exporter.thread_count <= before.threads, f"not more than {before.threads} threads"
    )
    grown = exporter.resident_bytes - before.memory
    assert grown < (mib << 20) * (8 if IS_SANITIZED else 1), f"grown by {grown >> 10} KiB"


def test_hundreds_of_reconnects_leak_no_resources(start):
    with RawFeed(good) as feed:
        exporter = start.exporter("--feed.url", feed.url, *QUICK, "--web.enable-lifecycle")

        def close(peer: Peer) -> None:
            peer.send(frame(CLOSE, b"\x03\xe8"))

        def break_rules(peer: Peer) -> None:
            peer.send(b"\xff" * 100)

        def ask(_: Peer) -> None:
            assert exporter.get("/-/reconnect", "POST").status == 200

        ways = {
            "requested": ask,
            "closed": close,
            "lost": Peer.end_sending,
            "protocol": break_rules,
        }

        def reconnect(times: int) -> None:
            for number in range(times):
                peer = feed.wait_for_peer(len(feed.peers))
                peer.is_open.wait(30)
                list(ways.values())[number % len(ways)](peer)
                feed.wait_for_peer(peer.number + 1)
            last = feed.wait_for_peer(len(feed.peers))
            exporter.wait_for_sample(metrics.INDEX, last.number, city="Pune")

        exporter.wait_for_sample(metrics.INDEX, 1, city="Pune")
        first = Use.of(exporter)
        reconnect(100)
        # Memory that is reused has been allocated by now.
        before = dataclasses.replace(first, memory=exporter.resident_bytes)
        reconnect(400)
        check_no_growth(exporter, before, mib=4)
        page = exporter.scrape()
        assert page.nonzero(metrics.DISCONNECTS, "reason") == {
            reason: 500 / len(ways) for reason in ways
        }
        assert page.value(metrics.ATTEMPTS) == 501
        assert page.value(metrics.CITIES) == 1


@pytest.mark.parametrize("fault", ["refused", "timeout", "handshake"])
def test_a_dead_feed_does_not_disturb_another(start, fault):
    response = answering("HTTP/1.1 500 Oh\nContent-Length: 0")
    acts = {"refused": good, "timeout": never_answer, "handshake": response}
    with WebSocketFeed() as live_feed, RawFeed(acts[fault]) as dead_feed:
        dead = f"ws://127.0.0.1:{CLOSED_PORT}/" if fault == "refused" else dead_feed.url
        live = live_feed.url
        # The live feed must connect that quickly as well.
        more = ["--feed.connect-timeout=1s"] if fault == "timeout" else []
        exporter = start.exporter("--feed.url", dead, "--feed.url", live, *QUICK, *more)
        live_feed.wait_for_client()
        for value in range(50):
            live_feed.send([{"city": "Pune", "aqi": value}])
            exporter.wait_for_sample(metrics.INDEX, value, city="Pune")
        exporter.wait_for_sample(metrics.DISCONNECTS, at_least=3, feed=dead, reason=fault)
        page = exporter.scrape()
        for feed, is_connected, messages in ((dead, 0, 0), (live, 1, 50)):
            assert page.value(metrics.CONNECTED, feed=feed) == is_connected
            assert page.value(metrics.MESSAGES, feed=feed) == messages
            assert page.value(metrics.READINGS, feed=feed) == messages
        assert page.value(metrics.ATTEMPTS, feed=live) == 1
        assert not any(value for _, value in page.samples(metrics.DISCONNECTS, feed=live))
        counts = page.by(metrics.DISCONNECTS, "reason", feed=dead)
        assert {reason for reason, count in counts.items() if count} == {fault}
        assert list(page.by(metrics.CONNECTED, "feed")) == [dead, live]
        assert exporter.get("/-/ready").status == 200


CITIES = [f"City {number}" for number in range(100)]


def flood_message(value: int) -> bytes:
    return frame(
        TEXT,
        ("[" + ",".join(f'{{"city":"{city}","aqi":{value}}}' for city in CITIES) + "]").encode(),
    )


def test_a_flood_of_readings_is_read_completely_while_scrapes_continue(start):
    seconds = float(os.environ.get("AIRQUALITY_FLOOD_SECONDS", "3"))
    sent = 0
    portion = b"".join(flood_message(value) for value in range(500))
    is_over = threading.Event()

    def flood(peer: Peer) -> None:
        nonlocal sent
        peer.open()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            peer.send(portion)
            sent += 500
        # The last state: one city changes in the very last message, the others in the one before.
        peer.send(flood_message(777), frame(TEXT, message(42, "Sentinel")))
        sent += 2
        is_over.set()
        peer.serve()

    with RawFeed(flood) as feed:
        exporter = start.exporter("--feed.url", feed.url)
        wait_for(
            lambda: exporter.scrape().value(metrics.CITIES) == len(CITIES), "the first message"
        )
        before = exporter.resident_bytes
        slowest, scrapes = 0.0, 0
        while not is_over.wait(0.1):
            began = time.monotonic()
            response = exporter.get("/metrics")
            slowest = max(slowest, time.monotonic() - began)
            scrapes += 1
            # The city of the last message may be there before the loop notices the end.
            assert Exposition(response.text).value(metrics.CITIES) in (len(CITIES), len(CITIES) + 1)
        exporter.wait_for_sample(metrics.INDEX, 42, city="Sentinel", seconds=60)
        page = exporter.scrape()
        values = page.by(metrics.INDEX, "city")
        assert values == {city: 777 for city in CITIES} | {"Sentinel": 42}
        assert page.value(metrics.MESSAGES) == sent
        assert page.value(metrics.READINGS) == (sent - 1) * len(CITIES) + 1
        assert page.nonzero(metrics.DISCONNECTS, "reason") == {}
        grown = exporter.peak_resident_bytes - before
        print(
            f"flood: {seconds:.0f} s, {sent} messages, {sent * len(CITIES) / seconds:.0f} "
            f"readings/s, slowest scrape {slowest:.3f} s, memory {before >> 20} MiB + "
            f"{grown >> 10} KiB at most"
        )
        # A scrape that waited for the end of the flood would be the only one.
        assert scrapes >= 3
        assert grown < (128 if IS_SANITIZED else 16) << 20
