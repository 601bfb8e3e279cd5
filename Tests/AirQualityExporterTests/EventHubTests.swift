import AirQuality
import HTTPServer
import Synchronization
import System
import TestSupport
import Testing

@testable import AirQualityExporter

@Suite("A listener of /events") struct EventHubTests {
    /// A store, the hub, and a server that answers everything with its events; time is the test's.
    private final class Bench: Sendable {
        let store = ReadingStore(rules: StoreRules(), feeds: ["ws://a/"], at: 0)
        let hub: EventHub
        let server: HTTPServer
        let firsts = Atomic(0)
        private let decoder = Mutex(FeedDecoder(format: FeedFormat()))
        private let now = Mutex(Duration.seconds(100))

        init(limit: Int = 10) throws {
            let store = store
            let resources = RouteResources(maximumRequests: 0, maximumListeners: limit)
            let hub = EventHub(store: store, queue: resources.pages, onFirst: {}, at: 77)
            self.hub = hub
            var configuration = HTTPServerConfiguration(addresses: [.tcp(host: "127.0.0.1", port: 0)])
            // A listener is ended by the hub alone, however slow the machine is.
            configuration.limits.streamTimeout = .seconds(600)
            configuration.handling = { _ in
                var handling = HTTPHandling()
                handling.permits = resources.listeners
                handling.queue = resources.pages
                return handling
            }
            server = try HTTPServer(configuration: configuration, onRequest: { hub.respond(to: $0) })
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

        /// A client that has asked for the events.
        func connect(
            _ version: String = "1.0", lastEventID: String? = nil, receiveBuffer: Int32? = nil, from host: UInt8 = 1
        ) throws -> RawHTTPClient {
            guard case .tcp(_, let port) = server.addresses[0] else { preconditionFailure("it listens on TCP") }
            let client = try RawHTTPClient(port: port, receiveBuffer: receiveBuffer, from: host)
            let field = lastEventID.map { "Last-Event-ID: \($0)\r\n" } ?? ""
            client.send("GET /events HTTP/\(version)\r\nHost: x\r\n\(field)\r\n")
            return client
        }

        /// A client that listens; HTTP/1.0 has no chunks between the events.
        func listen(lastEventID: String? = nil, receiveBuffer: Int32? = nil) throws -> RawHTTPClient {
            let client = try connect(lastEventID: lastEventID, receiveBuffer: receiveBuffer)
            _ = try client.read(upTo: "\r\n\r\n")
            return client
        }
    }

    private func data(_ client: RawHTTPClient) throws -> String {
        _ = try client.read(upTo: "data: ")
        return String(try client.read(upTo: "\n\n").dropLast(2))
    }

    private static let mumbai =
        #"{"city":"Mumbai","aqi":152.5,"category":3,"direction":0,"updated_ms":1795236585252,"changed_ms":null}"#

    @Test("is told of what changes, and of nothing before") func changes() throws {
        let bench = try Bench()
        bench.receive(#"[{"city":"Pune","aqi":70}]"#)
        let head = try bench.connect("1.1").readHead()
        #expect(head.status == 200)
        #expect(head.value("Content-Type") == "text/event-stream")
        #expect(head.value("Cache-Control") == "no-store")
        let client = try bench.listen()
        bench.tick()
        bench.receive(#"[{"city":"Mumbai","aqi":152.5}]"#)
        bench.tick()
        _ = try client.read(upTo: "event: cities\nid: 3.77\n")
        #expect(try data(client) == #"{"cities":[\#(Self.mumbai)]}"#)
    }

    @Test("gets a change of category with its direction and time, and names as JSON") func categories() throws {
        let bench = try Bench()
        bench.receive(#"[{"city":"\"a\\","aqi":500}]"#)
        let client = try bench.listen()
        bench.receive(#"[{"city":"\"a\\","aqi":50}]"#)
        bench.tick()
        #expect(
            try data(client)
                == #"{"cities":[{"city":"\"a\\","aqi":50.0,"category":1,"direction":1,"updated_ms":1795236585252,"changed_ms":1795236585252}]}"#
        )
    }

    @Test("hears one event a second at most") func rate() throws {
        let bench = try Bench()
        let client = try bench.listen()
        bench.receive(#"[{"city":"a","aqi":1}]"#)
        bench.tick()
        bench.receive(#"[{"city":"b","aqi":1}]"#)
        bench.tick(after: .milliseconds(999))
        bench.receive(#"[{"city":"c","aqi":1}]"#)
        bench.tick(after: .milliseconds(1))
        #expect(try data(client).contains("\"a\""))
        let second = try data(client)
        #expect(second.contains("\"b\"") && second.contains("\"c\"") && !second.contains("\"a\""))
    }

    @Test("gets a comment when nothing changes for 15 seconds") func heartbeat() throws {
        let bench = try Bench()
        let client = try bench.listen()
        _ = try client.read(upTo: ":\n\n")
        for _ in 0..<16 { bench.tick() }
        #expect(try client.read(upTo: ":\n\n").hasSuffix(":\n\n"))
    }

    @Test(
        "that comes back gets what it missed, or all where that is not known",
        arguments: [
            ("2.77", ["b", "c"]), ("3.77", ["c"]), ("4.77", []), ("1.77", ["a", "b", "c"]), ("9.77", ["a", "b", "c"]),
            ("3.76", ["a", "b", "c"]), ("junk", ["a", "b", "c"]), ("", ["a", "b", "c"]),
        ])
    func missed(_ id: String, _ cities: [String]) throws {
        let bench = try Bench()
        for city in ["a", "b", "c"] { bench.receive(#"[{"city":"\#(city)","aqi":1}]"#) }
        let client = try bench.listen(lastEventID: id)
        if !cities.isEmpty {
            _ = try client.read(upTo: "id: 4.77\n")
            let text = try data(client)
            #expect(["a", "b", "c"].filter { text.contains("\"city\":\"\($0)\"") } == cities)
        }
        bench.receive(#"[{"city":"d","aqi":1}]"#)
        bench.tick()
        #expect(try data(client).contains("\"city\":\"d\""))
    }

    @Test("gets many cities in several events, and can go on after each") func many() throws {
        let bench = try Bench()
        let client = try bench.listen()
        let all = (0..<2500).map { #"{"city":"c\#($0)","aqi":\#($0 % 400)}"# }
        bench.receive("[\(all.joined(separator: ","))]")
        var heard: [Int] = []
        for id in ["1.77", "1.77", "21.77"] {
            bench.tick()
            _ = try client.read(upTo: "id: \(id)\n")
            heard.append(try data(client).components(of: "\"city\"") - 1)
        }
        #expect(heard == [1000, 1000, 500])
        let other = try bench.listen(lastEventID: "1.77")
        #expect(try other.read(upTo: "id: 21.77\n").components(of: "\"city\"") - 1 == 2400)
    }

    @Test("over the limit is refused, and counted no longer than it listens") func limit() throws {
        let bench = try Bench(limit: 2)
        let clients = try [bench.listen(), bench.listen()]
        let refused = try bench.connect("1.1").readAnswer()
        #expect(refused.status == 503)
        #expect(refused.text == "too many listeners, expected at most 2\n")
        #expect(refused.value("Retry-After") == "10")
        #expect(bench.hub.listenerCount == 2)
        clients[0].close()
        eventually("the end of a listener") { bench.hub.listenerCount == 1 }
        #expect(try bench.connect("1.1").readHead().status == 200)
        clients[1].close()
    }

    @Test("takes the place of one of an address that has more of them") func share() throws {
        let bench = try Bench(limit: 4)
        let greedy = try (0..<4).map { _ in try bench.connect(from: 2) }
        for client in greedy { _ = try client.read(upTo: "\r\n\r\n") }
        let other = try bench.connect("1.1")
        #expect(try other.readHead().status == 200)
        eventually("the end of a listener") { bench.hub.listenerCount == 4 }
        other.close()
    }

    @Test("that is too slow to read is hung up on, and none waits for it") func slow() throws {
        let bench = try Bench()
        let slow = try bench.listen(receiveBuffer: 4096)
        let quick = try bench.listen()
        let all = (0..<1000).map { #"{"city":"\#(String(repeating: "x", count: 100))\#($0)","aqi":1}"# }
        let message = "[\(all.joined(separator: ","))]"
        // 200 KB each, more than the system's buffers take; at last the slow one's next event has left the ring.
        for _ in 0...EventHub.keptEvents + 2 {
            bench.receive(message)
            bench.tick()
            _ = try data(quick)
        }
        #expect(bench.hub.listenerCount == 2)
        let text = String(decoding: try slow.readToEnd(), as: UTF8.self)
        #expect((1...3).contains(text.components(of: "event: cities") - 1))
        eventually("its end") { bench.hub.listenerCount == 1 }
        quick.close()
    }

    @Test("reads on and on: there is a next time as long as anybody listens") func times() throws {
        let bench = try Bench()
        #expect(bench.hub.nextTickAt == nil)
        let client = try bench.listen()
        #expect(bench.hub.nextTickAt == .zero)
        bench.tick()
        #expect(bench.hub.nextTickAt == .seconds(102))
        client.close()
        eventually("the end") { bench.hub.nextTickAt == nil }
    }
}

extension String {
    fileprivate func components(of part: String) -> Int {
        var count = 1
        let (bytes, part) = (Array(utf8), Array(part.utf8))
        for start in bytes.indices where bytes[start...].starts(with: part) { count += 1 }
        return count
    }
}
