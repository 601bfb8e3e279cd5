"""The recipes of FEEDS.md, as they stand there, against recorded conversations with the servers."""

import json
import re

import pytest
import yaml

from support import metrics, readings
from support.conversations import Conversation, Player
from support.peers import WebSocketFeed
from support.recipes import REPOSITORY, SECTIONS, recipe, start_with
from support.waiting import wait_for

RECORDED = {
    "Home Assistant": "homeassistant-events", "Socket.IO": "socketio",
    "GraphQL": "graphql-transport-ws", "Centrifugo": "centrifugo", "Pusher": "sockudo",
    "STOMP": "spring-stomp", "SockJS": "spring-sockjs-plain", "Spring": "spring-plain",
    "Vert.x": "vertx-bridge", "Django Channels": "channels", "FastAPI": "fastapi-nan",
    "FastAPI with aliases": "fastapi-camel", "Node-RED": "nodered-message",
    "websocketd with CSV": "websocketd-csv", "websocketd": "websocketd-json", "NATS": "nats",
}
# Another recording of a protocol that has a recipe already.
OTHERS = {"rabbitmq-stomp": "STOMP", "spring-own-mapper": "Spring"}


def near(cities: dict[str, dict]) -> dict:
    """The same, with times to the millisecond."""
    return {city: pytest.approx(each, rel=0, abs=0.002) for city, each in cities.items()}


def start_reader(start, tmp_path, player: Player, entry: dict):
    return start_with(start, tmp_path, entry | {"url": player.url(entry["url"])})


@pytest.mark.parametrize(
    "title, name", [*RECORDED.items(), *((title, name) for name, title in OTHERS.items())]
)
def test_a_recipe_reads_the_whole_recording_on_one_connection(start, tmp_path, title, name):
    with Player(name) as player:
        expected = readings.said(player.sent, name)
        assert len(expected) >= 2, "the recording has readings"
        exporter = start_reader(start, tmp_path, player, recipe(title))
        wait_for(player.done.is_set, "the end of the recording", 60)
        exporter.wait_for_sample(metrics.MESSAGES, len(player.sent))
        page = exporter.scrape()
        assert readings.shown(page) == near(expected)
        assert page.nonzero(metrics.REJECTED, "reason") == {}
        assert page.nonzero(metrics.DISCONNECTS, "reason") == {}
        assert (player.connections, player.faults) == (1, [])
        exporter.stop()


PINGS = {
    "Socket.IO": ("2", "3"),
    "Centrifugo": ("{}", "{}"),
    "GraphQL": ('{"type":"ping"}', '{"type":"pong"}'),
    "Pusher": ('{"event":"pusher:ping","data":{}}', '{"event":"pusher:pong","data":{}}'),
    "NATS": ("PING\r\n", "PONG\r\n"),
}


@pytest.mark.parametrize("title, ping", PINGS.items())
def test_a_connection_is_held_for_three_minutes_of_the_servers_clock(start, tmp_path, title, ping):
    """Eight pings of 25 s each, at forty times the speed; each must be answered."""
    with Player(RECORDED[title], clock=40, ping=ping, repeat=8) as player:
        exporter = start_reader(start, tmp_path, player, recipe(title))
        wait_for(lambda: player.held, "three minutes", 60)
        assert (player.connections, player.faults) == (1, [])
        exporter.stop()


SILENT = {}
# What servers do not mind, so that the exporter has to notice.
QUIET = {"idle-timeout": "1s"}
AT_ONCE = [
    '{"type":"connection_init"}',
    '{"id":"1","type":"subscribe","payload":{"query":"subscription { readings { city } }"}}',
]
COMMANDS = [
    '{"id":1,"connect":{"token":"JWT","name":"exporter"}}',
    '{"id":2,"subscribe":{"channel":"air:india"}}',
]
WRONG_TOKEN = '{"type":"auth","access_token":"wrong"}'
CHANNEL = '{"event":"pusher:subscribe","data":{"channel":"air-quality"}}'
REGISTRATION = '{"type":"register","address":"air.all","headers":{}}'
#: By recording of a failure: the recipe for the server, what takes the place of its conversation,
#: the reason that is counted, and words of the line.
FAILURES = {
    "centrifugo-silent": ("Centrifugo", SILENT, "closed", "3502", "stale"),
    "centrifugo-no-pong": ("Centrifugo", {"subscribe": COMMANDS}, "closed", "3012", "no pong"),
    "channels-silent": ("Django Channels", SILENT, "handshake", "403", "Access denied"),
    "graphql-transport-ws-atonce": (
        "GraphQL", {"subscribe": AT_ONCE}, "closed", "4401", "Unauthorized"
    ),
    "graphql-transport-ws-silent": (
        "GraphQL", SILENT, "closed", "4408", "Connection initialisation timeout"
    ),
    "homeassistant-silent": ("Home Assistant", SILENT, "lost", "without a close frame", None),
    "homeassistant-wrong-token": (
        "Home Assistant", {"subscribe": WRONG_TOKEN}, "closed", "1000",
        "Invalid access token or password",
    ),
    "nodered-silent": ("Node-RED", QUIET, "idle", "--feed.idle-timeout", None),
    "socketio-noreply": ("Socket.IO", {"subscribe": "40"}, "closed", "without a status", None),
    "socketio-silent": ("Socket.IO", SILENT, "closed", "without a status", None),
    "sockudo-noreply": (
        "Pusher", {"subscribe": CHANNEL}, "closed", "4201", "Pong reply not received in time"
    ),
    "sockudo-silent": ("Pusher", SILENT, "closed", "4201", "Pong reply not received in time"),
    "spring-stomp-silent": ("STOMP", QUIET, "idle", "--feed.idle-timeout", None),
    "vertx-bridge-noping": (
        "Vert.x", {"subscribe": REGISTRATION}, "closed", "1001", "Session expired"
    ),
    "vertx-bridge-silent": ("Vert.x", SILENT, "closed", "1001", "Session expired"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_recorded_failure_is_logged_and_counted_and_its_recipe_avoids_it(start, tmp_path, name):
    title, instead, reason, words, server_words = FAILURES[name]
    conversation = "reply", "subscribe", "subscribe-interval", "header", "subprotocol"
    entry = {key: value for key, value in recipe(title).items() if key not in conversation}
    # So that the failure does not come again before it is looked at.
    entry |= instead | {"reconnect-min": "30s"}
    with Player(name) as player:
        if player.head["subprotocol"]:
            entry["subprotocol"] = player.head["subprotocol"]
        exporter = start_reader(start, tmp_path, player, entry)
        line = exporter.wait_for_line(f" reason={reason} err=", seconds=60)
        assert "level=WARN" in line and words in line
        said = re.search(r'server_message=(?:"([^"]*)"|(\S+))', line)
        assert (said and (said[1] or said[2])) == server_words
        page = exporter.scrape()
        assert set(page.nonzero(metrics.DISCONNECTS, "reason")) == {reason}
        # A client that had subscribed has read until then.
        assert readings.shown(page) == near(readings.said(player.sent, RECORDED[title]))
        assert player.faults == []
        # What is sent may be a secret.
        assert exporter.count_lines("access_token") == exporter.count_lines("JWT") == 0
        exporter.stop()
    with Player(RECORDED[title], clock=200) as player:
        exporter = start_reader(start, tmp_path, player, recipe(title))
        wait_for(lambda: exporter.scrape().samples(metrics.INDEX), "readings", 60)
        assert exporter.scrape().nonzero(metrics.DISCONNECTS, "reason") == {}
        assert (player.connections, player.faults) == (1, [])
        exporter.stop()


@pytest.mark.parametrize("name", ["graphql-transport-ws", "socketio", "centrifugo"])
def test_a_client_that_says_nothing_does_not_get_readings(start, tmp_path, name):
    with Player(name, patience=1) as player:
        silent = {"url": "ws://host/", "idle-timeout": "0"}
        if player.head["subprotocol"]:
            silent["subprotocol"] = player.head["subprotocol"]
        exporter = start_reader(start, tmp_path, player, silent)
        wait_for(lambda: player.faults, "the player's complaint", 60)
        assert "no " in player.faults[0]
        exporter.stop()


def test_texts_that_come_before_the_acknowledgement_are_refused(start, tmp_path):
    """What all subscriptions at once did, before there were replies."""
    with Player("graphql-transport-ws") as player:
        entry = recipe("GraphQL") | {
            "reply": 'if . == null then {type: "connection_init"}, '
            '{id: "1", type: "subscribe", payload: {}} else empty end',
        }
        exporter = start_reader(start, tmp_path, player, entry)
        wait_for(lambda: player.faults, "the player's complaint", 60)
        assert "too early" in player.faults[0]
        exporter.stop()


def test_every_recipe_is_a_valid_feed_file_and_has_its_lines(programs, tmp_path):
    for title, text in SECTIONS.items():
        if title == "MessagePack":
            continue
        entry = recipe(title)
        file = tmp_path / "feeds.yml"
        file.write_text(yaml.safe_dump([entry]))
        ended = programs.run("air-quality-exporter", "--feed.file", file, "--config.check")
        assert ended.process.returncode == 0, (title, ended.errors)
        assert ("*Recorded*" in text) == (title in RECORDED), title
        assert "*Recorded*" in text or "From its documents" in text or title == "MQTT", title


def test_the_protocols_that_probe_knows_have_a_section(programs):
    suggest = REPOSITORY / "Sources/Exporter/AirQualityExporter/Probe/Resources/suggest.jq"
    table = suggest.read_text().split("def protocol:")[1].split("\ndef ")[0]
    names = re.findall(r'\["([A-Z][A-Za-z. ]+)",', table)
    assert len(names) > 10 and set(names) <= set(SECTIONS)


DELHI = {"city": "Delhi", "aqi": 301, "time": "2026-11-29T02:30:00Z"}
READ = {"aqi": 301, "time": 1795919400}
QUERY = '"query":"subscription { readings { city aqi pm25 time } }"'
CHANNEL_NAME = r'"identifier":"{\"channel\":\"AirChannel\"}"'
#: By recipe: what each document says that client and server say in turn, and the city then.
DOCUMENTED = {
    "GraphQL, the older protocol": (
        [
            ('{"type":"connection_init","payload":{}}', [{"type": "connection_ack"}]),
            (
                '{"id":"1","type":"start","payload":{' + QUERY + "}}",
                [
                    {"type": "ka"},
                    {"type": "data", "id": "1",
                     "payload": {"data": {"readings": [DELHI | {"pm25": 150}]}}},
                ],
            ),
        ],
        {"Delhi": READ | {"pm2_5": 150}},
    ),
    "Signal K": (
        [
            (None, [{"name": "s", "version": "2.0.0", "self": "vessels.x", "roles": ["master"]}]),
            (
                '{"context":"vessels.self","subscribe":[{"path":"environment.*"}]}',
                [{
                    "context": "vessels.x",
                    "updates": [{
                        "source": {"label": "s"}, "timestamp": DELHI["time"],
                        "values": [
                            {"path": "environment.outside.airQualityIndex", "value": 301},
                            {"path": "environment.outside.pm25", "value": 1.5e-7},
                            {"path": "environment.outside.temperature", "value": 303.1},
                        ],
                    }],
                }],
            ),
        ],
        {"boat": READ | {"pm2_5": 150}},
    ),
    "Directus": (
        [
            ('{"type":"auth","access_token":"TOKEN"}', [{"type": "auth", "status": "ok"}]),
            (
                '{"type":"subscribe","collection":"readings"}',
                [
                    {"type": "subscription", "event": "init"},
                    {"type": "subscription", "event": "create", "data": [DELHI | {"pm25": 150}]},
                    {"type": "subscription", "event": "delete", "data": [7]},
                    {"type": "ping"},
                ],
            ),
            ('{"type":"pong"}', []),
        ],
        {"Delhi": READ | {"pm2_5": 150}},
    ),
    "Phoenix": (
        [
            ('[null,"0","phoenix","heartbeat",{}]', []),
            (
                '["1","1","air:lobby","phx_join",{}]',
                [
                    [None, "0", "phoenix", "phx_reply", {"status": "ok", "response": {}}],
                    ["1", "1", "air:lobby", "phx_reply", {"status": "ok", "response": {}}],
                    [None, None, "air:lobby", "reading", DELHI],
                ],
            ),
        ],
        {"Delhi": READ},
    ),
    "Action Cable": (
        [
            (None, [{"type": "welcome"}, {"type": "ping", "message": 1795919400}]),
            (
                '{"command":"subscribe",' + CHANNEL_NAME + "}",
                [
                    "{" + CHANNEL_NAME + ',"type":"confirm_subscription"}',
                    "{" + CHANNEL_NAME + ',"message":' + json.dumps(DELHI) + "}",
                ],
            ),
        ],
        {"Delhi": READ},
    ),
    "WAMP": (
        [
            ('[1,"realm1",{"roles":{"subscriber":{}}}]', [[2, 9129137332, {"roles": {}}]]),
            (
                '[32,1,{},"air.readings"]',
                [[33, 1, 5512315355], [36, 5512315355, 4429313566, {}], [36, 1, 2, {}, [DELHI]]],
            ),
        ],
        {"Delhi": READ},
    ),
    "ntfy": (
        [(
            None,
            [
                {"id": "a", "time": 1795919400, "event": "open", "topic": "t"},
                {"id": "b", "time": 1795919400, "event": "keepalive", "topic": "t"},
                {"id": "c", "time": 1795919400, "event": "message", "topic": "t",
                 "message": json.dumps(DELHI)},
            ],
        )],
        {"Delhi": READ},
    ),
}


@pytest.mark.parametrize("title", DOCUMENTED)
def test_a_recipe_reads_what_the_documents_of_its_server_say(start, tmp_path, title):
    steps, expected = DOCUMENTED[title]
    entry = recipe(title)
    protocols = [entry["subprotocol"]] if "subprotocol" in entry else None
    with Conversation(*steps, subprotocols=protocols) as feed:
        exporter = start_with(start, tmp_path, entry | {"url": feed.url})
        count = sum(len(messages) for _, messages in steps)
        exporter.wait_for_sample(metrics.MESSAGES, count)
        page = exporter.scrape()
        assert readings.shown(page) == expected
        assert page.nonzero(metrics.REJECTED, "reason") == {}
        texts = [text for text, _ in steps if text]
        wait_for(lambda: feed.heard == texts, "the client's texts")
        assert feed.clients[0].subprotocol == entry.get("subprotocol")
        origin = entry.get("header", "").removeprefix("Origin: ")
        assert feed.requests[0].headers.get("Origin", "") == origin


def test_every_recipe_is_run():
    assert {*RECORDED, *DOCUMENTED, "SignalR", "MQTT", "MessagePack"} == SECTIONS.keys()


def test_messages_of_a_signalr_hub_end_with_a_separator(start, tmp_path):
    ping, end = '{"type":6}', "\x1e"
    reading = '{"type":1,"target":"reading","arguments":[{"city":"Delhi","aqi":301}]}'
    entry = recipe("SignalR")
    with WebSocketFeed() as feed:
        exporter = start_with(start, tmp_path, entry | {"url": feed.url})
        wait_for(lambda: len(feed.received) == 1, "the handshake")
        feed.send("{}" + end)
        feed.send(ping + end + reading + end)
        exporter.wait_for_sample(metrics.INDEX, 301, city="Delhi")
        # While readings come, there are no pings of the server, but it wants some of its client.
        wait_for(lambda: len(feed.received) == 3, "two pings")
        assert feed.received == ['{"protocol":"json","version":1}' + end, ping + end, ping + end]
        assert exporter.scrape().nonzero(metrics.REJECTED, "reason") == {}


def test_what_record_writes_can_be_played(tmp_path):
    from support.conversations import frames

    file = tmp_path / "recorded.jsonl"
    lines = [
        {"time_ms": 1000, "out": "40"}, {"time_ms": 1500, "message": '42["aqi",[]]'},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert frames(file)[1] == [
        {"dir": "out", "text": "40", "at_ms": 0},
        {"dir": "in", "text": '42["aqi",[]]', "at_ms": 500},
    ]
