import TestSupport
import Testing

@testable import HTTPServer
@testable import System

@Suite struct HTTPStreamTests {
    /// Events for listeners; each event goes to one that waits.
    private final class Events: Sendable {
        private let state = Monitor(State())

        private struct State {
            var event: [UInt8] = []
            var listeners: Set<Int> = []
            var lastNumber = 0
        }

        var listenerCount: Int { state.read(\.listeners.count) }

        func send(_ event: [UInt8]) { state.change { $0.event = event } }

        func listen() -> HTTPStream {
            let number = state.change { state in
                state.lastNumber += 1
                state.listeners.insert(state.lastNumber)
                return state.lastNumber
            }
            return HTTPStream(
                greeting: Array("hi".utf8),
                next: { [state] in
                    state.wait { state in
                        guard state.listeners.contains(number) else { return [] }
                        guard !state.event.isEmpty else { return nil }
                        defer { state.event = [] }
                        return state.event
                    } ?? []
                }, end: { [state] in state.change { _ = $0.listeners.remove(number) } })
        }
    }

    private func serveEvents(_ events: Events) throws -> HTTPServer {
        try serve { request in
            request.path == "/stream"
                ? HTTPResponse(status: 200, body: .stream(events.listen())) : HTTPResponse(status: 200, line: "ok")
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

    @Test func `A stream to an HTTP 1.0 client is not chunked`() throws {
        let events = Events()
        let server = try serveEvents(events)
        let client = try server.connect()
        client.send("GET /stream HTTP/1.0\r\n\r\n")
        _ = try client.read(upTo: "hi")
        events.send(Array("hello".utf8))
        #expect(try client.read(upTo: "hello") == "hello")
    }

    @Test(arguments: [true, false]) func `A disconnected listener is noticed without an event`(byReset: Bool) throws {
        let events = Events()
        let server = try serveEvents(events)
        let client = try listen(server)
        if byReset { client.abort() } else { client.endSending() }
        eventually("the end of the listener") { events.listenerCount == 0 }
        #expect(try server.connect().request("/").text == "ok\n")
    }

    @Test func `A listener that does not read an event in time is disconnected`() throws {
        let events = Events()
        let server = try serveEvents(events)
        let waiting = try listen(server)
        let slow = try listen(server, receiveBuffer: 4096)
        waiting.close()
        eventually("one listener") { events.listenerCount == 1 }
        events.send([UInt8](repeating: 7, count: 8 << 20))
        try slow.awaitBytes()
        server.sweep(after: .seconds(13))
        #expect(events.listenerCount == 1)
        server.sweep(after: .seconds(16))
        eventually("the end of the listener") { events.listenerCount == 0 }
    }
}
