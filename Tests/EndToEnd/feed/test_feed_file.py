"""`--feed.file`: feeds with their own settings, read again on reload."""

import json
import re
import signal
import time

import pytest

from support.peers import WebSocketFeed
from support.waiting import wait_for

EXPORTER = "air-quality-exporter"


@pytest.fixture
def feeds():
    with WebSocketFeed() as one, WebSocketFeed() as two, WebSocketFeed() as three:
        yield one, two, three


@pytest.fixture
def file(tmp_path):
    return tmp_path / "feeds.yml"


def test_feeds_with_different_message_shapes_and_settings_are_read(start, feeds, file):
    one, two, three = feeds
    file.write_text(
        f"""
# The shapes differ, and only the second one needs a token.
- url: {one.url}
  name: plain
- url: {two.url}
  name: nested
  items: /data
  city-field: name
  value-field: index
  idle-timeout: 90s
  header: ["X-Token: secret", "X-Other: 1"]
- url: {three.url}
  name: keyed
  jq: 'to_entries[] | {{city: .key, aqi: .value}}'
""")
    exporter = start.exporter("--feed.file", str(file))
    for feed in (one, two, three):
        feed.wait_for_client()
    three.send('{"Mumbai":183.2}')
    exporter.wait_for_sample("airquality_index", 183.2, city="Mumbai")
    one.send('[{"city":"Pune","aqi":51}]')
    two.send('{"data":[{"name":"Delhi","index":301}]}')
    exporter.wait_for_sample("airquality_index", 51, city="Pune")
    exporter.wait_for_sample("airquality_index", 301, city="Delhi")
    timeouts = exporter.scrape().by("airquality_exporter_feed_idle_timeout_seconds", "feed")
    assert (timeouts["plain"], timeouts["nested"]) == (300, 90)
    assert two.requests[0].headers["X-Token"] == "secret"
    assert "X-Token" not in one.requests[0].headers
    assert not exporter.count_lines("secret")


def labels(exporter):
    return list(exporter.scrape().by("airquality_exporter_feed_connected", "feed"))


RELOAD = "airquality_exporter_config_last_reload_success"


def test_a_reload_affects_only_the_feeds_that_changed(start, feeds, file):
    kept, gone, new = feeds
    file.write_text(f"- url: {kept.url}\n- {{url: {gone.url}, name: b}}\n")
    exporter = start.exporter("--feed.file", str(file), "--web.enable-lifecycle")
    for feed in (kept, gone):
        feed.wait_for_client()
    client = gone.clients[0]
    assert exporter.get("/-/reload", "POST").status == 200
    exporter.wait_for_line('msg="Feeds unchanged"')
    file.write_text(f"- {{url: {new.url}, name: c}}\n- url: {kept.url}\n")
    started = exporter.scrape().value(f"{RELOAD}_timestamp_seconds")
    exporter.signal(signal.SIGHUP)
    new.wait_for_client()
    wait_for(lambda: client.protocol.close_code == 1001, "the close frame")
    wait_for(lambda: len(labels(exporter)) == 2, "the feeds")
    assert "c" in labels(exporter) and "b" not in labels(exporter)
    assert len(kept.clients) == len(kept.requests) == 1
    exporter.wait_for_sample(f"{RELOAD}_timestamp_seconds", at_least=started + 0.001)
    new.send('[{"city":"Pune","aqi":51}]')
    exporter.wait_for_sample("airquality_index", 51, city="Pune")
    # The same name in other bytes counts as another name.
    for name in ("e\u0301", "\u00e9"):
        file.write_text(f"- {{url: {new.url}, name: {name}}}\n- url: {kept.url}\n")
        assert exporter.get("/-/reload", "POST").status == 200
        assert set(labels(exporter)) == {kept.url, name}


@pytest.mark.parametrize(
    "text, said",
    [
        (
            "feeds:\n- url: ws://x/",
            r"line 1: the document is a mapping, expected a list such as "
            r'"- url: ws://feed.example/"',
        ),
        ("ws://me:secret@x/", r"line 1: the document is \*\*\*, expected a list such as .*"),
        ("- ws://me:secret@x/", r"line 1: \[0\] is \*\*\*, expected settings such as .*"),
        ("", r'no feed, expected a list such as "- url: ws://feed.example/"'),
        ("- url: ws://x/\n---\n- url: ws://y/", r"there is more than one document, .*"),
        ("- url: ws://x/\n---\n- url: [", r"there is more than one document, .*"),
        ("- url: ws://x/\n  header-file: 'A: secret'", r".*cannot read \*\*\*: No such .*"),
        ("[]", r'no feed, expected a list such as "- url: ws://feed.example/"'),
        ("- name: a", r"line 1: \[0\]: expected one url, the address of a feed"),
        ("- url: ws://x/\n  urll: a", r"line 2: \[0\].urll is unknown: did you mean url\?"),
        ("- url: ws://x/\n  qqq: a", r"line 2: \[0\].qqq is unknown, expected one of .*"),
        ("- url: ws://x/\n  demo: true", r"line 2: \[0\].demo is unknown, .*"),
        (
            "- url: ws://x/\n  city_field: n",
            r"line 2: \[0\].city_field is unknown: did you mean city-field\?",
        ),
        (
            "- url: ws://x/\n  feed.city-field: n",
            r"line 2: \[0\].feed.city-field is unknown: did you mean city-field\?",
        ),
        ("- url: ws://x/\n  nmae: a", r"line 2: \[0\].nmae is unknown: did you mean name\?"),
        ("- url: ws://x/\n  token: secret", r"line 2: .* is unknown: use header-file .*"),
        ("- url: ws://x/\n  username: secret", r"line 2: .*: use url ws://USER:PASSWORD@.*"),
        ("- url: ws://x/\n  timeout: 5s", r"line 2: .*: use connect-timeout .*"),
        (
            "- url: ws://x/\n  jq: .[] | {city: .n}",
            r"line 2: .*; put the jq program in quotation .*",
        ),
        ('- url: ws://x/\n  reply: "a" | . + "b"', r"line 2: [^;]*"),
        ("- jq: [.data] | .[0]\n  url: ws://x/", r"line 1: .*; put the jq program in quotation .*"),
        (
            '- url: ws://x/\n  jq: .[] | select(.a == "b # c")',
            r"line 2: --feed.jq of .*; put the program in quotation marks",
        ),
        (
            "- url: ws://x/\n  jq: {city: .n}",
            r"line 2: \[0\].jq is a mapping, expected a jq program in quotation marks",
        ),
        (
            "- url: ws://x/\n  jq: [.data]",
            r"line 2: \[0\].jq is a list, expected a jq program in quotation marks",
        ),
        (
            "- url: ${FEED_URL}",
            r"line 1: \[0\].url is .*, expected the value itself: variables are not expanded",
        ),
        (
            "- url: ws://x/\n  header: ['A: secret ${TOKEN}']",
            r"line 2: \[0\].header\[0\] is \*\*\*, expected the value itself: "
            r"variables are not expanded",
        ),
        (
            "- url: ws://x/\n  header: 'A: secret\\nB: c'",
            r"line 2: \[0\].header is \*\*\*, expected one header field, .*",
        ),
        (
            "- url: ws://x/\n  header: 'A: secret\\n'",
            r"line 2: \[0\].header is \*\*\*, expected one header field, .*",
        ),
        ("- url: ws://x/\n- url: ws://x/", r'line 2: two feeds are named "ws://x/", expected .*'),
        ("- url: ws://x/\n  idle-timeout: 60", r'line 2: \[0\].idle-timeout is "60", .*60s\?.*'),
        (
            "- url: http://me:secret@x/",
            r"line 1: .* is \*\*\*, expected a ws:// or .* poll --source json .*",
        ),
        ("- url: ws://x/\n  headers: {A: secret}", r"line 2: \[0\].headers: expected the key .*"),
        ("- url: ws://x/\n  items: [/a, /b]", r'line 2: \[0\].items\[1\] is "/b", expected one .*'),
        ("- url: ws://x/\n  header: [secret]", r"line 2: \[0\].header\[0\] is \*\*\*, expected .*"),
        (
            "- url: ws://x/\n  subprotocol:\n  - a\n  - b c",
            r'line 4: \[0\].subprotocol\[1\] is "b c", expected .*',
        ),
        ("- url: ws://x/\n  name: ''", r'line 2: \[0\].name is "", expected a name of .*'),
        ("- url: ws://x/\n  cert-file: a", r"line 2: --feed.cert-file of this feed: expected .*"),
        ("- url: ws://x/\n\n  jq: '.data['", r"line 3: --feed.jq of .*: syntax error.*"),
        ("- url: ws://x/\n  url: ws://y/", r'line 2: the key "url" is given twice'),
    ],
)
def test_an_invalid_feed_file_is_rejected_with_one_line_without_secrets(programs, file, text, said):
    file.write_text(text)
    for more in ([], ["--config.check"]):
        line = programs.rejection(EXPORTER, "--feed.file", str(file), *more)
        assert re.fullmatch(rf'{EXPORTER}: --feed.file: "{file}": {said}', line), line
        assert "secret" not in line


@pytest.mark.parametrize("flag", ["header", "header-file", "subscribe", "cert-file"])
def test_secrets_in_flags_require_feeds_on_one_host(programs, authority, file, tmp_path, flag):
    file.write_text("- url: ws://b.example/\n")
    (tmp_path / "headers").write_text("A: secret\n")
    client = authority.issue("client")
    flags = {
        "header": ["--feed.header=A: secret"],
        "header-file": [f"--feed.header-file={tmp_path / 'headers'}"],
        "subscribe": ["--feed.subscribe=secret"],
        "cert-file": [f"--feed.cert-file={client.file}", f"--feed.key-file={client.key}"],
    }[flag]
    good = ["--feed.url=ws://a.example/", "--config.check"]
    assert programs.run(EXPORTER, *good, *flags).output == ["configuration is valid"]
    for more in ("--feed.url=ws://b.example/", f"--feed.file={file}"):
        line = programs.rejection(EXPORTER, *good, *flags, more)
        assert f"--feed.{flag}: expected feeds on one host" in line and "secret" not in line


LIMITED = ("sh", "-c", 'ulimit -n 72 && exec "$@"', "sh")


@pytest.mark.parametrize(
    "text, flags, launcher, said",
    [
        ("- name: nothing\n", [], (), "line 1"),
        # An empty document may be an incomplete file, so it is rejected even beside other feeds.
        ("[]\n", [], (), "no feed, expected a list"),
        ("", [], (), "no feed, expected a list"),
        ("", ["--feed.demo"], (), "no feed, expected a list"),
        (
            "- {url: ONE, name: one}\n- {url: LOCALHOST, name: two}\n",
            ["--feed.header=X-Token: secret"],
            (),
            "--feed.header: expected feeds on one host",
        ),
        (
            "".join(f"- {{url: TWO, name: f{number}}}\n" for number in range(60)),
            [],
            LIMITED,
            "the limit of open files is 72, at least 544 are needed",
        ),
    ],
    ids=["invalid", "empty list", "empty", "empty beside others", "two hosts", "too many feeds"],
)
def test_a_reload_that_fails_changes_nothing(start, feeds, file, text, flags, launcher, said):
    one, two, _ = feeds
    file.write_text(f"- {{url: {one.url}, name: one}}\n")
    command = ("--feed.file", str(file), "--web.enable-lifecycle", *flags)
    exporter = start.exporter(*command, launcher=launcher)
    one.wait_for_client()
    text = text.replace("LOCALHOST", two.url.replace("127.0.0.1", "localhost"))
    file.write_text(text.replace("ONE", one.url).replace("TWO", two.url))
    response = exporter.get("/-/reload", "POST")
    assert response.status == 500 and said in response.text
    assert exporter.scrape().value(f"{RELOAD}ful") == 0
    assert set(labels(exporter)) - {"demo"} == {"one"}
    assert len(one.clients) == 1 and not two.requests


def test_a_reload_reconnects_a_feed_whose_settings_changed(start, feeds, file):
    kept, changed, _ = feeds
    text = (
        f"- {{url: {kept.url}, name: kept}}\n"
        f"- {{url: {changed.url}, name: changed, idle-timeout: 2m}}\n"
    )
    file.write_text(text)
    exporter = start.exporter("--feed.file", str(file), "--web.enable-lifecycle")
    for feed in (kept, changed):
        feed.wait_for_client()
    now = int(time.time())
    changed.send([{"city": "Pune", "aqi": 51, "t": now}])
    exporter.wait_for_sample("airquality_index", 51, city="Pune")
    file.write_text(text.replace("idle-timeout: 2m", "idle-timeout: 3m, time-field: t"))
    assert exporter.get("/-/reload", "POST").status == 200
    wait_for(lambda: len(changed.requests) == 2, "the second connection")
    assert len(kept.requests) == len(kept.clients) == 1
    timeouts = exporter.scrape().by("airquality_exporter_feed_idle_timeout_seconds", "feed")
    assert timeouts["changed"] == 180
    # The new settings are fully in effect: a reading older than the known one is rejected.
    wait_for(lambda: len(changed.clients) == 1, "the first client's end")
    changed.send([{"city": "Pune", "aqi": 52, "t": now - 600}])
    exporter.wait_for_sample(
        "airquality_exporter_feed_rejected_total", 1, feed="changed", reason="bad_time"
    )
    assert exporter.scrape().value("airquality_index", city="Pune") == 51


def test_a_feed_named_in_both_a_flag_and_the_file_is_rejected(programs, file):
    file.write_text(json.dumps([{"url": "ws://a.example/"}]))
    line = programs.rejection(EXPORTER, "--feed.url=ws://a.example/", "--feed.file", str(file))
    assert 'two feeds are named "ws://a.example/"' in line


def test_quotation_marks_around_the_name_of_the_file_are_reported(programs):
    line = programs.rejection(EXPORTER, '--feed.file="/feeds.yml"')
    assert "cannot read" in line and line.endswith("; the quotation marks are part of the value")
