import Synchronization
import TestSupport
import Testing

@testable import HTTPServer
@testable import System

@Suite struct HTTPStreamTests {
    /// A stream that sends what a test gives it.
    private final class Source: Sendable {
        private let unsent = Mutex<[UInt8]>([])
        private let isOver = Mutex(false)
        private let streams = Mutex<[HTTPStream]>([])
        let endCount = Mutex(0)
        private let isDocument: Bool
        private let queue = WorkQueue(name: "pieces")

        init(isDocument: Bool = false) { self.isDocument = isDocument }

        var stream: HTTPStream {
            let stream = HTTPStream(
                isEndless: !isDocument, queue: queue,
                next: { [self] in
                    unsent.withLock { unsent in
                        if unsent.isEmpty { return isOver.withLock { $0 } ? .end : .none }
                        defer { unsent = [] }
                        return .bytes(unsent)
                    }
                }, onEnd: { [self] in endCount.withLock { $0 += 1 } })
            streams.withLock { $0.append(stream) }
            return stream
        }

        func send(_ text: String) { send(Array(text.utf8)) }

        func send(_ bytes: [UInt8]) {
            unsent.withLock { $0 += bytes }
            wake()
        }

        func end() {
            isOver.withLock { $0 = true }
            wake()
        }

        func wake() {
            for stream in streams.withLock({ $0 }) { stream.wake() }
        }

        var hasEnded: Bool { endCount.withLock { $0 } > 0 }
    }

    private func serveStream(_ source: Source, timeout: Duration = .seconds(600)) throws -> HTTPServer {
        try serve(
            { $0.limits.streamTimeout = timeout },
            respond: { request in
                request.path == "/stream"
                    ? HTTPResponse(status: 200, body: .stream(source.stream)) : HTTPResponse(status: 200, line: "ok")
            })
    }

    private static let get = "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test func sendsWhatComesAndSleepsBetween() throws {
        let source = Source()
        let server = try serveStream(source)
        let client = try server.connect()
        client.send(Self.get)
        let head = try client.readHead()
        #expect(head.status == 200)
        #expect(head.value("Transfer-Encoding") == "chunked")
        for text in ["hello", "another", "third"] {
            source.send(text)
            #expect(try client.read(upTo: text + "\r\n").hasSuffix("\(String(text.count, radix: 16))\r\n\(text)\r\n"))
            // Others are answered meanwhile.
            #expect(try server.connect().request("/").text == "ok\n")
        }
        source.end()
        #expect(try client.read(upTo: "0\r\n\r\n") == "0\r\n\r\n")
        eventually("the notice of the end") { source.hasEnded }
        #expect(try client.request("/").text == "ok\n")
    }

    @Test func isPlainForAnOldClient() throws {
        let source = Source()
        let server = try serveStream(source)
        let client = try server.connect()
        client.send("GET /stream HTTP/1.0\r\n\r\n")
        source.send("hello")
        _ = try client.read(upTo: "hello")
        source.end()
        #expect(try client.readToEnd() == [])
    }

    /// Of a suspended connection libmicrohttpd itself does not notice it.
    @Test(arguments: [true, false]) func endsWhenItsClientHasGone(byReset: Bool) throws {
        let source = Source()
        let server = try serveStream(source)
        let client = try server.connect()
        client.send(Self.get)
        _ = try client.readHead()
        if byReset { client.abort() } else { client.close() }
        eventually("the notice of the end") { source.hasEnded }
    }

    @Test func hangsUpOnAReaderThatTakesNothing() throws {
        let source = Source()
        let server = try serveStream(source, timeout: .milliseconds(200))
        let slow = try server.connect(receiveBuffer: 4096)
        slow.send(Self.get)
        source.send([UInt8](repeating: 7, count: 8 << 20))
        #expect(try server.connect().request("/").text == "ok\n")
        eventually("the notice of the end") { source.hasEnded }
    }

    /// Nobody waits for a stream: neither one that sleeps, nor one whose reader is slow.
    @Test func endsWithTheServer() throws {
        let (sleeping, blocked) = (Source(), Source())
        let server = try serve { request in
            HTTPResponse(status: 200, body: .stream(request.path == "/sleeping" ? sleeping.stream : blocked.stream))
        }
        let clients = try ["/sleeping", "/blocked"].map { path in
            let client = try server.connect(receiveBuffer: 4096)
            client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try client.readHead()
            return client
        }
        blocked.send([UInt8](repeating: 7, count: 8 << 20))
        // Would be waited for if anything were.
        server.stop(within: .seconds(100_000))
        #expect(sleeping.hasEnded && blocked.hasEnded)
        _ = try clients[0].readToEnd()
    }

    @Test func isNotCountedAmongWhatADrainWaitsFor() throws {
        let source = Source()
        let server = try serveStream(source)
        let clients = try (0..<50).map { _ in
            let client = try server.connect()
            client.send(Self.get)
            _ = try client.readHead()
            return client
        }
        server.stop(within: .seconds(100_000))
        #expect(source.endCount.withLock { $0 } == clients.count)
    }

    /// A wake between the last look and the sleep is not lost.
    @Test func losesNoWake() throws {
        let source = Source()
        let server = try serveStream(source)
        let client = try server.connect()
        client.send(Self.get)
        _ = try client.readHead()
        let count = 5000
        let thread = try ServiceThread(name: "producer") { for number in 0..<count { source.send("<\(number)>") } }
        var text = ""
        while !text.hasSuffix("<\(count - 1)>") {
            // A chunk: its length, its bytes.
            let length = Int(try client.read(upTo: "\r\n").dropLast(1), radix: 16) ?? -1
            let chunk = try client.read(upTo: "\r\n").dropLast(1)
            #expect(chunk.utf8.count == length)
            text += chunk
        }
        thread.join()
        #expect(text == (0..<count).map { "<\($0)>" }.joined())
    }

    // MARK: Documents

    private func serveDocuments(_ source: Source, limits: HTTPLimits = HTTPLimits()) throws -> HTTPServer {
        try serve({ $0.limits = limits }, respond: { _ in HTTPResponse(status: 200, body: .stream(source.stream)) })
    }

    @Test func aDocumentIsAnAnswerLikeAnyOther() throws {
        let source = Source(isDocument: true)
        let server = try serveDocuments(source)
        let client = try server.connect()
        for text in ["one", "two"] {
            source.send(text)
            client.send(Self.get)
            #expect(try client.readHead().value("Transfer-Encoding") == "chunked")
            _ = try client.read(upTo: text + "\r\n")
            source.end()
            _ = try client.read(upTo: "0\r\n\r\n")
        }
        eventually("the notice of the end") { source.endCount.withLock { $0 } == 2 }
    }

    @Test func theHeadOfADocumentHasNoLengthAndNoContent() throws {
        let source = Source(isDocument: true)
        let server = try serveDocuments(source)
        let client = try server.connect()
        client.send("HEAD /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        let head = try client.readHead()
        #expect(head.status == 200)
        #expect(head.value("Content-Length") == nil && head.value("Transfer-Encoding") == nil)
        #expect(head.value("Connection") == "close")
        #expect(try client.readToEnd() == [])
        eventually("the notice of the end") { source.hasEnded }
    }

    /// A server that stops waits for it.
    @Test func aDocumentIsSentToItsEndThoughTheServerStops() throws {
        let source = Source(isDocument: true)
        let server = try serveDocuments(source)
        let client = try server.connect()
        client.send(Self.get)
        _ = try client.readHead()
        let thread = try ServiceThread(name: "stop") { server.stop(within: .seconds(100_000)) }
        source.send("text")
        _ = try client.read(upTo: "text\r\n")
        source.end()
        #expect(try client.read(upTo: "0\r\n\r\n") == "0\r\n\r\n")
        #expect(try client.readToEnd() == [])
        thread.join()
    }

    /// Its reader must not take what it has for the whole.
    @Test func aDocumentThatCannotBeSentToItsEndIsBrokenOff() throws {
        let source = Source(isDocument: true)
        let server = try serveDocuments(source)
        let client = try server.connect()
        client.send(Self.get)
        _ = try client.readHead()
        source.send("text")
        _ = try client.read(upTo: "text\r\n")
        server.stop(within: .zero)
        #expect(try client.readToEnd() == [])
        #expect(source.hasEnded)
    }

    @Test(arguments: [true, false]) func aDocumentEndsWhenItsClientHasGone(byReset: Bool) throws {
        let source = Source(isDocument: true)
        let server = try serveDocuments(source)
        let client = try server.connect(receiveBuffer: 4096)
        client.send(Self.get)
        _ = try client.readHead()
        source.send([UInt8](repeating: 7, count: 8 << 20))
        _ = try client.read(upTo: "\r\n")
        if byReset { client.abort() } else { client.close() }
        eventually("the notice of the end") { source.hasEnded }
    }

    @Test func hangsUpOnAReaderThatTakesADocumentTooSlowly() throws {
        var limits = HTTPLimits()
        limits.responseTimeout = .milliseconds(200)
        limits.minimumRate = 1 << 40
        let source = Source(isDocument: true)
        let server = try serveDocuments(source, limits: limits)
        let slow = try server.connect(receiveBuffer: 4096)
        slow.send(Self.get)
        source.send([UInt8](repeating: 7, count: 8 << 20))
        eventually("the notice of the end") { source.hasEnded }
    }
}
