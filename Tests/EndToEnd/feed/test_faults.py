"""The client of a feed against misbehaving servers: it always notices, logs the fault and
reconnects."""

import datetime
import re

import pytest

from support import fault_table, metrics
from support.exposition import Exposition
from support.faults import CONNECT, FAULTS, RECONNECT, Fault
from support.memory import IS_SANITIZED
from support.programs import Exporter
from support.raw_feed import CLOSE, RawFeed, good
from support.tls_faults import (
    end_of_stream,
    end_without_close_notify,
    only_close_notify,
    rejected_by_client,
    secured,
    silence,
)
from support.waiting import wait_for

#: Extra seconds for a busy machine or a sanitizer. Without the flags, everything would take ten
#: seconds or more.
ALLOWANCE = 20.0 if IS_SANITIZED else 6.0
#: The most that memory may grow, whatever a server sends; messages are limited to 256 KiB.
MOST_GROWTH = (512 if IS_SANITIZED else 32) << 20


def time_of(line: str) -> float:
    """The time at which the exporter logged the line."""
    return datetime.datetime.fromisoformat(re.match(r"time=(\S+)", line)[1]).timestamp()


def page_with_reading(exporter: Exporter, value: float) -> Exposition:
    def found():
        page = exporter.scrape()
        return page.by(metrics.INDEX, "city").get("Pune") == value and page

    return wait_for(found, f"the reading {value}", pause=0.002)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_counted_and_logged_and_readings_resume(start, record_property, fault: Fault):
    with RawFeed(fault.act, good) as feed:
        check_fault(start, record_property, fault, feed, feed.url)


def check_fault(start, record_property, fault: Fault, feed: RawFeed, url: str) -> None:
    exporter = start.exporter("--feed.url", url, *fault.all_flags)
    memory = exporter.peak_resident_bytes
    # The reading of the second connection, or of the first one after its fault.
    page = page_with_reading(exporter, 2)
    # The exporter's own time, because the test may look late.
    flowing = page.value("airquality_last_update_timestamp_seconds", city="Pune")
    assert page.nonzero(metrics.DISCONNECTS, "reason") == (
        {fault.reason: 1} if fault.reason else {}
    )
    assert page.nonzero(metrics.REJECTED, "reason") == fault.rejections
    assert page.value(metrics.ATTEMPTS) == (2 if fault.reason else 1)
    assert page.value(metrics.CONNECTED) == 1
    assert exporter.peak_resident_bytes - memory < MOST_GROWTH
    # One line for each change of state and each reason of rejection, and no others.
    connected = 2 if fault.reason and fault.is_after_reading else 1

    def lines(part: str) -> list[str]:
        return [line for line in exporter.errors if part in line and time_of(line) <= flowing]

    reasons = [fault.reason] if fault.reason else list(fault.rejections)
    # They come through a pipe, so sometimes later than the metrics.
    wait_for(
        lambda: (
            len(lines("Feed connected")) == connected and len(lines("level=WARN")) >= len(reasons)
        ),
        "what the log says",
    )
    said = lines("level=WARN")
    assert [re.search(r"reason=(\S+)", line)[1] for line in said] == reasons, exporter.errors
    if fault.close_status:

        def closes() -> list[bytes]:
            return [payload for opcode, payload in feed.peers[0].received if opcode == CLOSE]

        (payload,) = wait_for(closes, "the close frame")
        assert int.from_bytes(payload[:2]) == fault.close_status

    assert flowing + 0.001 >= feed.fault_at + fault.retry_after, (
        "dialled before the server wanted to be"
    )
    noticed_after = max(0.0, time_of(said[0]) - feed.fault_at) if fault.reason else None
    flowing_after = max(0.0, flowing - feed.fault_at)
    limit = fault.limit + ALLOWANCE
    again = fault.limit + max(fault.retry_after, RECONNECT if fault.reason else 0)
    counted = fault.reason or ", ".join(fault.rejections) or "–"
    record_property(
        fault_table.PROPERTY,
        fault_table.row(fault.name, counted, noticed_after, flowing_after, again),
    )
    assert (noticed_after or 0) <= limit
    assert flowing_after <= again + ALLOWANCE


def bad_certificate(kind: str):
    return lambda contexts: rejected_by_client(contexts[kind])


def over_trusted_tls(act):
    return lambda contexts: secured(contexts["good"], act)


TLS_FAULTS = [
    ("no answer to the TLS handshake", "timeout", CONNECT, lambda contexts: silence),
    ("end of stream instead of the TLS handshake", "tls", 0, lambda contexts: end_of_stream),
    ("certificate expired", "tls", 0, bad_certificate("expired")),
    ("TLS: end of stream", "lost", 0, over_trusted_tls(end_without_close_notify)),
    ("TLS: its goodbye without a close frame", "lost", 0, over_trusted_tls(only_close_notify)),
]


@pytest.mark.parametrize("name, reason, limit, act", TLS_FAULTS, ids=[row[0] for row in TLS_FAULTS])
def test_a_tls_fault_is_counted_and_logged_and_readings_resume(
    start, record_property, authority, contexts, name, reason, limit, act
):
    fault = Fault(
        name, act(contexts), reason, limit, is_after_reading=reason == "lost",
        flags={"--feed.ca-file": str(authority.file)})
    with RawFeed(fault.act, secured(contexts["good"], good)) as feed:
        check_fault(start, record_property, fault, feed, f"wss://127.0.0.1:{feed.port}/")
