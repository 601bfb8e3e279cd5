"""Every format of the metrics page, plain and gzip, with odd city names and every metric family,
checked by independent parsers."""

import pathlib
import re
import shutil
import subprocess

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from support import metrics, openmetrics_grammar
from support.exposition import duplicate_series, parse_samples
from support.formats import ENCODINGS, FORMATS, OPENMETRICS_TEXT, TEXT, gunzip
from support.names import ODD_NAMES, REJECTED_NAMES, SENT_NAMES
from support.peers import WebSocketFeed

README = pathlib.Path(__file__).parents[3] / "Sources/Exporter/AirQualityExporter/README.md"
#: Metric families and their types from the README's table, without those that have no samples here,
#: and the common ones of exporters; OpenMetrics names counters without `_total`.
FAMILIES = dict(re.findall(r"^\| `(airquality_\w+)` \| (\w+) \|", README.read_text(), re.MULTILINE))
WITHOUT = (
    "subindex", "exporter_tls_handshake_failures_total",
    "exporter_feed_certificate_expiry_timestamp_seconds",
)
for name in WITHOUT:
    del FAMILIES[f"airquality_{name}"]
FAMILIES |= {
    "process_cpu_seconds_total": "counter",
    "process_open_fds": "gauge",
    "process_max_fds": "gauge",
    "process_virtual_memory_bytes": "gauge",
    "process_virtual_memory_max_bytes": "gauge",
    "process_resident_memory_bytes": "gauge",
    "process_heap_bytes": "gauge",
    "process_start_time_seconds": "gauge",
    "process_threads": "gauge",
    "process_network_receive_bytes_total": "counter",
    "process_network_transmit_bytes_total": "counter",
    metrics.REQUESTS: "counter",
    metrics.IN_FLIGHT: "gauge",
}
ODD_SOURCE = '"quo\\"te"; kind=model; license="\\\\ {label=\\"x\\"} 2"'


@pytest.fixture(scope="module")
def exporter(programs, tmp_path_factory):
    """An exporter whose state is complete and no longer changes: odd names, category changes,
    pollutants, a source with an odd name, storage."""
    storage = tmp_path_factory.mktemp("formats") / "history.db"
    flags = (f"--storage.file={storage}", "--history.interval=0", "--feed.idle-timeout=0")
    flags += ("--feed.pollutants-field=air",)
    with (
        WebSocketFeed(source=ODD_SOURCE) as feed,
        programs.exporter("--feed.url", feed.url, *flags) as exporter,
    ):
        feed.wait_for_client()
        for values in (range(40, 140), range(40, 2040, 20), [123.456] * 99):
            feed.send(
                [
                    {"city": name, "aqi": aqi, "air": {"pm2_5": aqi / 3, "o3": "61.02", "co": 0}}
                    for name, aqi in zip(SENT_NAMES, values)
                ]
            )
        feed.send([{"city": name, "aqi": 1} for name in REJECTED_NAMES])
        exporter.wait_for_sample(metrics.REJECTED, len(REJECTED_NAMES), reason="bad_city")
        exporter.wait_for_sample(metrics.READINGS, 3 * len(ODD_NAMES))
        exporter.wait_for_sample(metrics.LAST_WRITE)
        yield exporter


@pytest.fixture(scope="module", params=["plain", "gzip"])
def pages(request, exporter):
    """The page in each format, decompressed."""
    found = {}
    for name, (accept, content_type) in FORMATS.items():
        response = exporter.get(
            "/metrics", headers={"Accept": accept, "Accept-Encoding": ENCODINGS[request.param]}
        )
        assert response.status == 200
        assert response.headers["Content-Type"] == content_type
        assert response.headers["Vary"] == "Accept, Accept-Encoding"
        assert response.headers["Content-Length"] == str(len(response.body))
        is_plain = request.param == "plain"
        assert response.headers.get("Content-Encoding") == (None if is_plain else "gzip")
        found[name] = response.body if is_plain else gunzip(response.body)
    return found


def comparable(samples: list) -> dict:
    """The samples by series; of those that change from page to page, only their presence."""
    changing = re.compile(f"process_|promhttp_|{metrics.LAST_WRITE}")
    return {
        (name, tuple(sorted(labels.items()))): None if changing.match(name) else value
        for name, labels, value in samples
    }


def test_promtool_accepts_the_text_format(pages):
    if not shutil.which("promtool"):
        pytest.skip("promtool is not installed")
    check = subprocess.run(["promtool", "check", "metrics"], input=pages[TEXT], capture_output=True)
    assert check.returncode == 0 and not check.stderr, check.stderr.decode()


@pytest.mark.parametrize("name, parse", [(TEXT, parse_text), (OPENMETRICS_TEXT, parse_openmetrics)])
def test_the_python_parsers_find_every_metric_family_and_city(pages, name, parse):
    families = {family.name: family for family in parse(pages[name].decode())}
    # Both parsers strip the suffix of a counter's name.
    assert {name: family.type for name, family in families.items()} == {
        name.removesuffix("_total") if kind == "counter" else name: kind
        for name, kind in FAMILIES.items()
    }
    assert all(family.documentation and family.samples for family in families.values())
    indices = families[metrics.INDEX].samples
    found = {sample.labels["city"]: sample.value for sample in indices}
    assert found == {name: 123.456 for name in ODD_NAMES}


def test_the_parser_of_these_tests_agrees_with_the_python_parser(pages):
    theirs = [
        (sample.name, sample.labels, sample.value)
        for family in parse_text(pages[TEXT].decode())
        for sample in family.samples
    ]
    assert [tuple(sample) for sample in parse_samples(pages[TEXT].decode())] == theirs


def test_the_page_conforms_to_the_openmetrics_grammar(pages):
    assert openmetrics_grammar.complaint(pages[OPENMETRICS_TEXT].decode()) is None


def test_all_formats_contain_the_same_samples(pages):
    expected = comparable(parse_samples(pages[TEXT].decode()))
    assert len(expected) > 6 * len(ODD_NAMES)
    for page in pages.values():
        assert not duplicate_series(page.decode())
        assert comparable(parse_samples(page.decode())) == expected


def test_only_the_selected_metric_families_of_cities_are_exported(start, python_feed):
    exporter = start.reader(python_feed, "--metrics.families=updated,index")
    python_feed.send([{"city": "Pune", "aqi": 7}])
    exporter.wait_for_sample(metrics.INDEX, 7, city="Pune")
    page = exporter.get("/metrics").text
    found = [sample.name for sample in parse_samples(page) if "city" in sample.labels]
    assert found == [
        metrics.INDEX, "airquality_last_update_timestamp_seconds", "airquality_city_info",
    ]


def test_an_unchanged_state_gives_identical_responses(start, python_feed):
    exporter = start.reader(python_feed, "--web.disable-exporter-metrics")
    python_feed.send([{"city": name, "aqi": 7} for name in SENT_NAMES])
    exporter.wait_for_sample(metrics.CITIES, len(ODD_NAMES))
    for accept, _ in FORMATS.values():
        for encoding in ENCODINGS.values():
            headers = {"Accept": accept, "Accept-Encoding": encoding}
            one, other = (exporter.get("/metrics", headers=headers) for _ in range(2))
            for response in (one, other):
                response.headers.pop("Date")
            assert one == other


def test_a_real_prometheus_stores_every_sample(exporter, start, tmp_path):
    prometheus = start.prometheus(tmp_path, exporter.address)
    found = prometheus.wait_for(metrics.INDEX)
    assert {row["metric"]["city"]: float(row["value"][1]) for row in found} == {
        name: 123.456 for name in ODD_NAMES
    }
    count = len(parse_samples(exporter.get("/metrics").text))
    # A busy machine may fail a scrape now and then.
    prometheus.wait_for(f"scrape_samples_scraped == {count}")
    own = "{job='air-quality-exporter',__name__!~'up|scrape_.*'}"
    prometheus.wait_for(f"count({own}) == {count}")
