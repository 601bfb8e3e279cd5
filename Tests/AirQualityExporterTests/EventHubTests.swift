import AirQuality
import HTTPText
import Synchronization
import System
import TestSupport
import Testing

@testable import AirQualityExporter
@testable import HTTPServer

@Suite struct EventHubTests {
    /// A store, the hub, and a server of its events, with a clock that the test moves.
    private final class Bench: Sendable {
        let store = ReadingStore(rules: StoreRules(), feeds: ["ws://a/"], at: 0)
        let hub: EventHub
        let server: HTTPServer
        private let decoder = Mutex(FeedDecoder(format: FeedFormat()))
        private let now = Mutex(Duration.seconds(100))

        init() throws {
            let hub = EventHub(store: store, heartbeat: .seconds(600), at: 77)
            self.hub = hub
            server = try HTTPServer(
                configuration: HTTPServerConfiguration(
                    addresses: [.tcp(host: "127.0.0.1", port: 0)],
                    routes: [Route("/events") { hub.respond(to: $0) }]))
        }

        func receive(_ message: String) {
            let bytes = Array(message.utf8)
            let message = decoder.withLock { $0.decode(bytes.span, receivedAt: 1_795_236_585_252) }
            store.record(message, feed: 0)
        }

        func tick(after time: Duration = .seconds(1)) {
            hub.tick(
                at: now.withLock { now in
                    now += time
                    return now
                })
        }

        /// A client that listens.
        func listen() throws -> RawHTTPClient {
            guard case .tcp(_, let port) = server.addresses[0] else { preconditionFailure("it listens on TCP") }
            let client = try RawHTTPClient(port: port)
            client.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try client.read(upTo: "retry: 2000\n:\n\n")
            return client
        }

        /// The next event, or the rest of the greeting if that has none.
        func event(_ client: RawHTTPClient) throws -> String { try client.read(upTo: "\n\n\r\n") }
    }

    @Test func `A listener receives an event for changes, at most once a second`() throws {
        let bench = try Bench()
        bench.receive(#"[{"city":"Delhi","aqi":5}]"#)
        let client = try bench.listen()
        #expect(bench.hub.listenerCount == 1)
        #expect(try client.read(upTo: "\r\n") == "\r\n")
        bench.tick()
        #expect(!client.hasBytes, "what was there before is not news")
        bench.receive(#"[{"city":"Mumbai","aqi":152.5}]"#)
        bench.receive(#"[{"city":"Mumbai","aqi":153.5}]"#)
        bench.tick()
        let event = try bench.event(client)
        #expect(event.contains("event: change\nid: ") && event.contains(".77\n"))
        bench.receive(#"[{"city":"Mumbai","aqi":154.5}]"#)
        bench.tick(after: .milliseconds(500))
        #expect(!client.hasBytes)
        bench.tick(after: .milliseconds(500))
        #expect(try bench.event(client).contains("event: change"))
    }

    @Test func `Only a listener that comes back with an older version gets an event at once`() throws {
        let bench = try Bench()
        let version = bench.store.version
        for (last, isTold) in [("\(version).77", false), ("\(version).76", true), ("\(version - 1).77", true)] {
            let fields = [HTTPField(name: "Last-Event-ID", value: last)]
            let stream = try #require(bench.hub.respond(to: HTTPRequest(path: "/", fields: fields)).body.stream)
            #expect(String(decoding: stream.greeting, as: UTF8.self).contains("event: change") == isTold)
        }
    }

    /// The second of two that connect to an idle hub must not count as known what the first is yet to receive.
    @Test func `Listeners that connect at the same time miss no event`() throws {
        for round in 0..<300 {
            let store = ReadingStore(rules: StoreRules(), feeds: ["ws://a/"], at: 0)
            let hub = EventHub(store: store, heartbeat: .milliseconds(1), at: 77)
            let listeners = Monitor<[HTTPStream]>([])
            let threads = try (0..<2).map { _ in
                try ServiceThread(name: "listener") {
                    // For an unknown identifier the greeting has the current one.
                    let request = HTTPRequest(path: "/events", fields: [HTTPField(name: "Last-Event-ID", value: "0")])
                    guard case .stream(let stream) = hub.respond(to: request).body else { return }
                    listeners.change { $0.append(stream) }
                }
            }
            var decoder = FeedDecoder(format: FeedFormat())
            let message = Array(#"[{"city":"Delhi","aqi":\#(round % 400)}]"#.utf8)
            store.record(decoder.decode(message.span, receivedAt: 1_795_236_585_252), feed: 0)
            for thread in threads { thread.join() }
            hub.tick(at: .seconds(100))
            let current = "id: \(store.version).77\n"
            for stream in listeners.read({ $0 }) {
                let known = String(decoding: stream.greeting, as: UTF8.self)
                #expect(known.contains(current) || String(decoding: stream.next(), as: UTF8.self).contains(current))
            }
        }
    }
}
