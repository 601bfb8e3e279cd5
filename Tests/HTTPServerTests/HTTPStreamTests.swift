import Glibc
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer
@testable import System

@Suite struct HTTPStreamTests {
    private func serveEvents(_ events: EventBroadcast, timeout: Duration = .seconds(600)) throws -> HTTPServer {
        try serve {
            $0.limits.streamTimeout = timeout
        } respond: { request in
            request.path == "/stream"
                ? HTTPResponse(status: 200, body: .stream(events.listen(greeting: Array("hi".utf8))))
                : HTTPResponse(status: 200, line: "ok")
        }
    }

    private func listen(_ server: HTTPServer, receiveBuffer: Int32? = nil) throws -> RawHTTPClient {
        let client = try server.connect(receiveBuffer: receiveBuffer)
        client.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        let head = try client.readHead()
        #expect(head.status == 200 && head.value("Transfer-Encoding") == "chunked")
        #expect(try client.read(upTo: "hi\r\n") == "2\r\nhi\r\n")
        return client
    }

    @Test func `A listener gets the greeting and each event`() throws {
        let events = EventBroadcast()
        let server = try serveEvents(events)
        let clients = try (0..<20).map { _ in try listen(server) }
        #expect(events.listenerCount == 20)
        for text in ["hello", "another"] {
            events.send(Array(text.utf8))
            for client in clients { #expect(try client.read(upTo: text + "\r\n").hasSuffix("\r\n\(text)\r\n")) }
            #expect(try server.connect().request("/").text == "ok\n")
        }
    }

    @Test func `A silent stream has a heartbeat`() throws {
        let server = try serveEvents(EventBroadcast(heartbeat: .milliseconds(20)))
        let client = try listen(server)
        for _ in 0..<3 { #expect(try client.read(upTo: ":\n\n\r\n") == "3\r\n:\n\n\r\n") }
    }

    @Test func `A stream is plain for HTTP 1.0`() throws {
        let events = EventBroadcast()
        let server = try serveEvents(events)
        let client = try server.connect()
        client.send("GET /stream HTTP/1.0\r\n\r\n")
        _ = try client.read(upTo: "hi")
        events.send(Array("hello".utf8))
        #expect(try client.read(upTo: "hello") == "hello")
    }

    @Test(arguments: [true, false]) func `A listener that has gone is noticed although nothing is sent`(
        byReset: Bool
    ) throws {
        let events = EventBroadcast()
        let server = try serveEvents(events)
        let client = try listen(server)
        if byReset { client.abort() } else { client.endSending() }
        eventually("the end") { events.listenerCount == 0 }
        #expect(try server.connect().request("/").text == "ok\n")
    }

    @Test func `A listener that reads nothing is ended`() throws {
        let events = EventBroadcast()
        let server = try serveEvents(events, timeout: .milliseconds(200))
        let slow = try listen(server, receiveBuffer: 4096)
        events.send([UInt8](repeating: 7, count: 8 << 20))
        eventually("the end") { events.listenerCount == 0 }
        slow.close()
    }

    @Test func `A stop ends all streams at once`() throws {
        let events = EventBroadcast()
        let server = try serveEvents(events)
        var clients = try (0..<50).map { _ in try listen(server) }
        let blocked = try listen(server, receiveBuffer: 4096)
        clients.append(blocked)
        events.send([UInt8](repeating: 7, count: 8 << 20))
        // Would be waited for if anything were.
        let start = monotonicTime()
        let isStopped = server.stop(within: .seconds(100_000))
        #expect(isStopped && monotonicTime() - start < .seconds(10))
        #expect(events.listenerCount == 0)
    }
}
