"""The feed's client against servers that misbehave: it always knows, it always says so, it always comes back."""

import os
import time

import pytest

from fault_table import FaultTable
from faults import FAULTS, RECONNECT, Fault
from misbehaving import CLOSE, RawFeed, good
from programs import Exporter
from waiting import wait_for

DISCONNECTS = "airquality_exporter_feed_disconnects_total"
REFUSALS = "airquality_exporter_feed_refusals_total"

#: What everything may take longer than the flags say: a busy machine, a sanitizer.
ALLOWANCE = 20.0 if os.environ.get("AIRQUALITY_SLOW") else 1.0
#: Not more than that, whatever a server sends; the size limit of the tests is 256 KiB.
MOST_GROWTH = (512 if os.environ.get("AIRQUALITY_SLOW") else 32) << 20


def wait_until(condition, what: str) -> float:
    """When it was so."""
    wait_for(condition, what, 10, pause=0.002)
    return time.monotonic()


def has_reading(exporter: Exporter, value: float) -> bool:
    return bool([1 for _, found in exporter.scrape().samples("airquality_index", city="Pune") if found == value])


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault(start, table, fault: Fault):
    with RawFeed(*[fault.act] * fault.connections, good) as feed:
        check_fault(start, table, fault, feed, feed.url)


def check_fault(start, table: FaultTable, fault: Fault, feed: RawFeed, url: str) -> None:
    exporter = start.exporter("--feed.url", url, *fault.all_flags)
    memory = exporter.peak_resident_bytes
    noticed = None
    if fault.reason:
        noticed = wait_until(
            lambda: exporter.scrape().value(DISCONNECTS, reason=fault.reason) == 1, f"a disconnect by {fault.reason}")
    flowing = wait_until(lambda: has_reading(exporter, fault.connections + 1), "readings after the fault")

    page = exporter.scrape()
    assert page.nonzero(DISCONNECTS, "reason") == ({fault.reason: 1} if fault.reason else {})
    assert page.nonzero(REFUSALS, "reason") == fault.refusals
    assert page.value("airquality_exporter_feed_connection_attempts_total") == (2 if fault.reason else 1)
    assert page.value("airquality_exporter_feed_connected") == 1
    assert exporter.peak_resident_bytes - memory < MOST_GROWTH
    # A line for each change of state, none for anything else.
    connected = 2 if fault.reason and fault.is_after_reading else 1
    wait_for(lambda: sum("Feed connected" in line for line in exporter.errors) == connected, "what the log says")
    said = [line for line in exporter.errors if "level=WARN" in line]
    assert len(said) == (1 if fault.reason else 0), exporter.errors
    assert all(f"reason={fault.reason}" in line for line in said)
    if fault.close_status:
        sent = [payload for opcode, payload in feed.peers[0].received if opcode == CLOSE]
        assert [int.from_bytes(payload[:2]) for payload in sent] == [fault.close_status]

    least = feed.fault_at + fault.retry_after
    assert flowing >= least, "dialled before the server wanted to be"
    noticed_after = noticed and max(0.0, noticed - feed.fault_at)
    flowing_after = flowing - feed.fault_at
    limit = fault.limit + ALLOWANCE
    again = fault.limit + max(fault.retry_after, RECONNECT if fault.reason else 0)
    counted = fault.reason or ", ".join(fault.refusals) or "–"
    table.add(fault.name, counted, noticed_after, flowing_after, again)
    assert (noticed_after or 0) <= limit
    assert flowing_after <= again + ALLOWANCE
