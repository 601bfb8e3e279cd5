"""The formats of the metrics page, and how each is asked for."""

import zlib

OPENMETRICS = "application/openmetrics-text"
PROTOBUF = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
# What asks for a format, and the Content-Type of the answer.
FORMATS = {
    "text 0.0.4": ("text/plain;version=0.0.4", "text/plain; version=0.0.4; charset=utf-8"),
    "text 1.0.0": (
        "text/plain;version=1.0.0;escaping=allow-utf-8",
        "text/plain; version=1.0.0; charset=utf-8; escaping=allow-utf-8",
    ),
    "OpenMetrics 0.0.1": (f"{OPENMETRICS};version=0.0.1", f"{OPENMETRICS}; version=0.0.1; charset=utf-8"),
    "OpenMetrics 1.0.0": (f"{OPENMETRICS};version=1.0.0", f"{OPENMETRICS}; version=1.0.0; charset=utf-8"),
    "protobuf": (PROTOBUF.replace(" ", ""), PROTOBUF),
}
TEXTS = ["text 0.0.4", "text 1.0.0"]
OPENMETRICS_TEXTS = ["OpenMetrics 0.0.1", "OpenMetrics 1.0.0"]

ENCODINGS = {"plain": "identity", "gzip": "gzip"}


def gunzip(body: bytes) -> bytes:
    """One whole gzip member and nothing behind it; some readers stop at the first."""
    inflater = zlib.decompressobj(wbits=31)
    plain = inflater.decompress(body) + inflater.flush()
    assert inflater.eof and not inflater.unused_data
    return plain
