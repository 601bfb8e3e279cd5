"""The formats of the metrics page, and how each is requested."""

import zlib

OPENMETRICS = "application/openmetrics-text"
TEXT = "text 0.0.4"
OPENMETRICS_TEXT = "OpenMetrics 1.0.0"
# The `Accept` that requests a format, and the Content-Type of the response.
FORMATS = {
    TEXT: ("text/plain;version=0.0.4", "text/plain; version=0.0.4; charset=utf-8"),
    OPENMETRICS_TEXT: (
        f"{OPENMETRICS};version=1.0.0",
        f"{OPENMETRICS}; version=1.0.0; charset=utf-8",
    ),
}

ENCODINGS = {"plain": "identity", "gzip": "gzip"}


def gunzip(body: bytes) -> bytes:
    """Expects exactly one whole gzip member; some readers stop after the first."""
    inflater = zlib.decompressobj(wbits=31)
    plain = inflater.decompress(body) + inflater.flush()
    assert inflater.eof and not inflater.unused_data
    return plain
