import Synchronization
import TestSupport
import Testing

@testable import Bytes
@testable import System
@testable import WebSocket

struct RepliesTests {
    @Test func `Subscriptions, the greeting and the replies to each message are sent in order`() throws {
        let received = Mutex<[String]>([])
        let server = RawServer { peer, _ in
            peer.acceptWebSocket()
            // Both messages arrive at once.
            peer.send(frame(0x81, "one") + frame(0x82, "two"))
            while let frame = peer.receiveFrame() {
                received.withLock { $0.append("\(frame.opcode) " + String(decoding: frame.payload, as: UTF8.self)) }
            }
        }
        defer { server.stop() }
        let sent = Mutex<[String]>([])
        var settings = try configuration(port: server.port)
        settings.subscriptions = ["subscribe"]
        settings.greeting = { [Array("hello".utf8), []] }
        settings.onSend = { text in sent.withLock { $0.append("1 " + String(decoding: text, as: UTF8.self)) } }
        @Sendable func reply(_ log: ClientLog) -> MessageOutcome {
            MessageOutcome(replies: log.texts.last.map { [Array("re: \($0)".utf8), Array("\0".utf8)] } ?? [])
        }
        try withClient(settings, afterMessage: reply) { _, log in
            defer { server.stop() }
            let expected = ["1 subscribe", "1 hello", "1 ", "1 re: one", "1 \0", "1 re: two", "1 \0"]
            log.wait(for: "replies") { _ in received.withLock { $0.count } == expected.count }
            #expect(received.withLock { $0 } == expected)
            #expect(sent.withLock { $0 } == expected)
        }
    }

    @Test(
        arguments: [
            ("HTTP/1.1 400 Bad Request\r\nContent-Length: 6\r\n\r\nWrong!", "Bad Request: Wrong!"),
            ("HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nno O\r\n", "Forbidden: no O"),
            ("HTTP/1.1 500 \r\nContent-Type: text/plain\r\n\r\n\u{1B}[31m", " [31m"),
        ])
    func `What the server says in a rejection is reported apart from the status`(response: String, words: String) throws
    {
        try withPeer(
            { peer, _ in
                _ = peer.receive(upTo: "\r\n\r\n")
                for byte in response.utf8 { peer.send([byte]) }
            },
            { _, log in
                let state = log.wait(for: "disconnect") { !$0.disconnects.isEmpty }
                guard case .disconnected(.handshake, let detail, let said, _)? = state.events.dropFirst().first else {
                    Issue.record("\(state.events)")
                    return
                }
                #expect(detail.hasPrefix("status ") && said == words)
            })
    }

    @Test func `A server that asks for replies and takes none is disconnected`() throws {
        let isOver = Gate()
        let server = RawServer { peer, number in
            peer.acceptWebSocket()
            guard number == 0 else { return peer.holdOpen() }
            // The replies are far more than the kernel buffers, and none is read.
            for _ in 0..<400 { peer.send(frame(0x81, "more")) }
            isOver.wait()
        }
        defer { server.stop() }
        defer { isOver.open() }
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: 60_000)
        let settings = try configuration(port: server.port)
        @Sendable func reply(_: ClientLog) -> MessageOutcome { MessageOutcome(replies: [text]) }
        try withClient(settings, afterMessage: reply) { _, log in
            defer { server.stop() }
            defer { isOver.open() }
            let state = log.wait(for: "disconnect") { !$0.disconnects.isEmpty }
            #expect(state.disconnects == [.protocolError])
            #expect(
                state.events.contains(
                    .disconnected(.protocolError, detail: "more than 1 MiB of replies that the server does not take")))
        }
    }
}
