import AirQuality
import Logging
import Testing
import WebSocket

@testable import AirQualityExporter

@Suite("A feed")
struct FeedTests {
    @Test(
        "has header fields as users write them",
        arguments: [
            ("Authorization: Bearer x", HeaderField(name: "Authorization", value: "Bearer x")),
            ("A:b", HeaderField(name: "A", value: "b")), ("A: \tb \t", HeaderField(name: "A", value: "b")),
            ("A:", HeaderField(name: "A", value: "")), ("A: b: c", HeaderField(name: "A", value: "b: c")),
            ("A: é", HeaderField(name: "A", value: "é")), ("no colon", nil), (": b", nil), ("A b: c", nil),
            ("A : b", nil),
            ("A: b\r\nC: d", nil), ("A: b\u{0}", nil), ("", nil),
        ] as [(String, HeaderField?)])
    func headerFields(_ text: String, _ field: HeaderField?) {
        #expect(HeaderField(text[...]) == field)
    }

    @Test("has header fields from a file, comments and blank lines passed over")
    func headerFile() throws {
        let text = "# secrets\n\nAuthorization: Bearer x\r\n  \nX-Key: 1"
        #expect(
            try HeaderField.parse(file: text).get() == [
                HeaderField(name: "Authorization", value: "Bearer x"), HeaderField(name: "X-Key", value: "1"),
            ])
        #expect(throws: HeaderField.BadLine(number: 3)) { try HeaderField.parse(file: "# a\nA: b\noops").get() }
    }

    @Test("has each reason of disconnection in the core that the transport gives, and no other")
    func reasons() {
        let reasons = WebSocket.DisconnectReason.allCases.map { AirQuality.DisconnectReason($0) }
        #expect(Set(reasons) == Set(AirQuality.DisconnectReason.allCases))
        #expect(reasons.count == AirQuality.DisconnectReason.allCases.count)
    }

    @Test("is logged when its state changes, not at every attempt")
    func log() {
        var log = FeedLog(label: "ws://x/")
        func level(_ event: FeedEvent) -> String {
            log.entry(for: event).map { "\($0.level) \($0.message)" } ?? "-"
        }
        func lost(_ reason: AirQuality.DisconnectReason) -> FeedEvent { .disconnected(reason, detail: "detail") }
        #expect(level(.connecting) == "debug Connecting to feed")
        #expect(level(lost(.refused)) == "warning Feed cannot be reached, trying on")
        #expect(level(lost(.refused)) == "debug Feed cannot be reached, trying on")
        #expect(level(lost(.timeout)) == "warning Feed cannot be reached, trying on")
        #expect(level(.connected) == "info Feed connected")
        #expect(level(lost(.lost)) == "warning Feed lost, reconnecting")
        #expect(level(lost(.lost)) == "debug Feed cannot be reached, trying on")
        #expect(level(.connected) == "info Feed connected")
        #expect(level(lost(.paused)) == "info Feed disconnected")
        #expect(level(.paused) == "info Feed paused, nobody reads")
        #expect(level(.resumed) == "info Feed resumed")
        #expect(level(.connected) == "info Feed connected")
    }

    @Test("is paused when nobody has read for the limit, and resumed by the next read")
    func readers() {
        let readers = Readers(limit: .seconds(60), at: .seconds(100))
        #expect(readers.tick(at: .seconds(159)) == nil)
        #expect(readers.read(at: .seconds(159)) == nil)
        #expect(readers.nextTickAt == .seconds(219))
        #expect(readers.tick(at: .seconds(218)) == nil)
        #expect(readers.tick(at: .seconds(219)) == .pause)
        #expect(readers.tick(at: .seconds(300)) == nil)
        #expect(readers.nextTickAt == nil)
        #expect(readers.read(at: .seconds(301)) == .resume)
        #expect(readers.read(at: .seconds(302)) == nil)
        #expect(readers.tick(at: .seconds(362)) == .pause)
        let never = Readers(limit: .zero, at: .zero)
        #expect(never.tick(at: .seconds(1_000_000)) == nil)
        #expect(never.read(at: .zero) == nil)
    }

    @Test("is fresh, or the health path says in one line what is missing")
    func readiness() {
        let store = ReadingStore(rules: StoreRules(hashSeed: 1), feeds: ["ws://a/", "ws://b/"], at: 0)
        let health = Health(store: store, idleTimeout: .seconds(60), stuckFeeds: { [] })
        var a = FeedStatistics(label: "ws://a/")
        let b = FeedStatistics(label: "ws://b/")
        #expect(
            health.unreadiness(of: [a, b], at: 0) == "no fresh feed: ws://a/: not connected; ws://b/: not connected")
        a.lastTrouble = "connection refused"
        #expect(health.unreadiness(of: [a], at: 0) == "no fresh feed: ws://a/: not connected (connection refused)")
        a.isConnected = true
        #expect(health.unreadiness(of: [a], at: 0) == "no fresh feed: ws://a/: connected, no message yet")
        a.lastMessageAt = 1000
        #expect(health.unreadiness(of: [a, b], at: 61_000) == nil)
        #expect(health.unreadiness(of: [a], at: 61_001) == "no fresh feed: ws://a/: no message for 60 s")
        a.isConnected = false
        a.isPaused = true
        #expect(health.unreadiness(of: [b, a], at: 1_000_000) == nil)
        let patient = Health(store: store, idleTimeout: .zero, stuckFeeds: { ["ws://a/"] })
        a.isConnected = true
        #expect(patient.unreadiness(of: [a], at: 1_000_000_000) == nil)
        #expect(patient.sickness == "the loop of the feed ws://a/ does not turn")
        #expect(health.sickness == nil)
    }
}
