import Bytes
import Glibc
import TestSupport
import Testing

@testable import System
@testable import WebSocket

@Suite struct PeerFaultTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        var name: String
        var reason: DisconnectReason
        var detail: String
        /// What had arrived before.
        var texts: [String] = []
        /// Nil: as far as the end of the handshake.
        var change: @Sendable (inout WebSocketClientConfiguration) -> Void = { _ in }
        var serve: @Sendable (RawServer.Connection) -> Void
        var testDescription: String { name }

        /// After a good handshake.
        private static func sends(
            _ name: String, _ reason: DisconnectReason, _ detail: String, texts: [String] = [], _ bytes: [UInt8]
        ) -> Fault {
            Fault(name: name, reason: reason, detail: detail, texts: texts) { peer in
                peer.acceptWebSocket()
                peer.send(bytes)
                peer.holdOpen()
            }
        }

        private static func answers(_ name: String, _ detail: String, _ answer: String) -> Fault {
            Fault(name: name, reason: .handshake, detail: detail) { peer in
                _ = peer.receive(upTo: "\r\n\r\n")
                peer.send(answer)
                peer.holdOpen()
            }
        }

        static let all: [Fault] = [
            Fault(
                name: "accepts and says nothing", reason: .timeout,
                detail: "no connection within 0.8 seconds: no answer to the handshake",
                change: { $0.connectTimeout = .milliseconds(800) },
                serve: { $0.holdOpen() }),
            Fault(
                name: "half an answer", reason: .timeout,
                detail: "no connection within 0.8 seconds: no answer to the handshake",
                change: { $0.connectTimeout = .milliseconds(800) },
                serve: { peer in
                    peer.send("HTTP/1.1 101 Switching")
                    peer.holdOpen()
                }),
            Fault(
                name: "ends without an answer", reason: .lost,
                detail: "the server ended the connection without an answer",
                serve: { _ = $0.receive(upTo: "\r\n\r\n") }),
            Fault(
                name: "ends within the answer", reason: .lost,
                detail: "the server ended the connection without an answer",
                serve: { peer in
                    _ = peer.receive(upTo: "\r\n\r\n")
                    peer.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: webso")
                }),
            Fault(
                name: "resets instead of an answer", reason: .lost,
                detail: "the server ended the connection without an answer",
                serve: { peer in
                    _ = peer.receive(upTo: "\r\n\r\n")
                    peer.resetOnClose()
                }),
            answers("an answer that is not HTTP", "the answer is not HTTP", "220 mail.example.com ESMTP\r\n"),
            answers(
                "an answer with a line that is no field", "the answer's header has a line that is no \"Name: value\"",
                "HTTP/1.1 101 X\r\nUpgrade\r\n\r\n"),
            answers(
                "an answer of more than 64 KiB", "the answer's header is longer than 65536 bytes",
                "HTTP/1.1 101 X\r\n" + String(repeating: "X-Long: \(String(repeating: "x", count: 90))\r\n", count: 700)
            ),
            answers(
                "interim answers without an end", "the answer's header is longer than 65536 bytes",
                String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 2000)),
            Fault(
                name: "a subprotocol that was not asked for", reason: .handshake,
                detail: "status 101 with a subprotocol that was not offered: chat",
                serve: { peer in
                    peer.send(goodAnswer(peer.receiveRequest().accept, "Sec-WebSocket-Protocol: chat\r\n"))
                    peer.holdOpen()
                }),
            answers(
                "404", "status 404 instead of 101", "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno"),
            answers("200", "status 200 instead of 101", "HTTP/1.0 200 OK\r\n\r\n<html>"),
            answers("401", "status 401 instead of 101", "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"),
            answers(
                "101 without anything", "status 101 without Upgrade: websocket", "HTTP/1.1 101 Switching\r\n\r\n"),
            answers(
                "101 with a wrong key", "status 101 with a wrong Sec-WebSocket-Accept",
                "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: eA==\r\n\r\n"),
            answers("redirect without an end", "redirected more than 5 times", "HTTP/1.1 302 X\r\nLocation: /\r\n\r\n"),
            Fault(
                name: "silence", reason: .pongTimeout, detail: "nothing for 0.8 seconds after a ping",
                change: {
                    $0.pingInterval = .milliseconds(100)
                    $0.pongTimeout = .milliseconds(800)
                },
                serve: { peer in
                    peer.acceptWebSocket()
                    peer.holdOpen()
                }),
            Fault(
                name: "half a frame, then silence", reason: .pongTimeout,
                detail: "nothing for 0.8 seconds after a ping",
                change: {
                    $0.pingInterval = .milliseconds(100)
                    $0.pongTimeout = .milliseconds(800)
                },
                serve: { peer in
                    peer.acceptWebSocket()
                    peer.send(Array(serverFrame(0x81, "hello").dropLast()))
                    peer.holdOpen()
                }),
            Fault(
                name: "does not even read", reason: .pongTimeout, detail: "nothing for 0.8 seconds after a ping",
                change: {
                    $0.pingInterval = .milliseconds(100)
                    $0.pongTimeout = .milliseconds(800)
                },
                serve: { peer in
                    peer.acceptWebSocket()
                    peer.holdWithoutReading()
                }),
            Fault(
                name: "answers pings, never ends a message", reason: .idle, detail: "no whole message for 0.8 seconds",
                change: {
                    $0.pingInterval = .milliseconds(50)
                    $0.pongTimeout = .milliseconds(5000)
                    $0.idleTimeout = .milliseconds(800)
                },
                serve: { peer in
                    peer.acceptWebSocket()
                    peer.send(serverFrame(0x01, "["))
                    while let frame = peer.receiveFrame() {
                        if frame.opcode == 9 { peer.send(serverFrame(0x8A, frame.payload) + serverFrame(0x00, " ")) }
                    }
                }),
            Fault(
                name: "a message of 2^63 − 1 bytes", reason: .idle, detail: "no whole message for 0.8 seconds",
                change: {
                    $0.idleTimeout = .milliseconds(800)
                    $0.maximumMessageBytes = 1000
                },
                serve: { peer in
                    peer.acceptWebSocket()
                    peer.send([0x82, 127, 0x7F, 255, 255, 255, 255, 255, 255, 255])
                    let block = [UInt8](repeating: 0, count: 10_000)
                    while peer.send(block) {}
                }),
            Fault(
                name: "ends after a message", reason: .lost, detail: "the connection ended without a close frame",
                texts: ["[]"],
                serve: { peer in
                    peer.acceptWebSocket()
                    peer.send(serverFrame(0x81, "[]"))
                }),
            Fault(
                name: "ends within a message", reason: .lost, detail: "the connection ended without a close frame",
                serve: { peer in
                    peer.acceptWebSocket()
                    peer.send(Array(serverFrame(0x81, "hello").dropLast()))
                }),
            Fault(name: "resets", reason: .lost, detail: "the connection ended without a close frame") { peer in
                peer.acceptWebSocket()
                peer.resetOnClose()
            },
            sends(
                "close", .closed, "closed by the server with status 1001: bye",
                serverFrame(0x88, [3, 233] + Array("bye".utf8))),
            sends("close with 1012", .closed, "closed by the server with status 1012", serverFrame(0x88, [3, 244])),
            sends("close without a status", .closed, "closed by the server without a status", serverFrame(0x88)),
            sends(
                "close reason that is no UTF-8", .protocolError, "close reason is not UTF-8",
                serverFrame(0x88, [3, 232, 0xFF])),
            sends("masked frame", .protocolError, "masked frame from the server", [0x81, 0x82, 1, 2, 3, 4, 5, 6]),
            sends("reserved opcode", .protocolError, "reserved opcode 3", [0x83, 0]),
            sends("reserved bit", .protocolError, "reserved bit set in a frame", [0xA1, 0]),
            sends(
                "compressed without an agreement", .protocolError,
                "compressed frame, but compression was not negotiated", [0xC1, 0]),
            sends(
                "length 2^63", .protocolError, "frame length of 2^63 or more", [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]),
            sends("invalid close status", .protocolError, "invalid close status 1005", serverFrame(0x88, [3, 237])),
            sends(
                "long ping", .protocolError, "control frame longer than 125 bytes",
                serverFrame(0x89, [UInt8](repeating: 0, count: 126))),
            sends(
                "continuation of nothing", .protocolError, "continuation frame without a message",
                serverFrame(0x80, "x")),
            sends(
                "a message, then garbage", .protocolError, "reserved opcode 7", texts: ["[]"],
                serverFrame(0x81, "[]") + Array("GET / HTTP/1.1".utf8)),
        ]
    }

    /// The first connection is faulty, the ones after it are good: readings flow again.
    @Test("faults", arguments: Fault.all) func recovers(_ fault: Fault) throws {
        let isRedirect = fault.name.hasPrefix("redirect")
        try withPeer(
            change: {
                $0.pingInterval = .zero
                fault.change(&$0)
            },
            { peer, number in
                if number < (isRedirect ? 6 : 1) {
                    fault.serve(peer)
                } else {
                    peer.acceptWebSocket()
                    peer.send(serverFrame(0x81, "good"))
                    while let frame = peer.receiveFrame() {
                        if frame.opcode == 9 { peer.send(serverFrame(0x8A, frame.payload) + serverFrame(0x81, "good")) }
                    }
                }
            },
            { _, log in
                // The limits of the fault go for what comes after it, too, and a busy machine may run into them.
                let log = log.wait(for: "recovery") { $0.messages.contains { $0.text == "good" } }
                let first = log.events.first { if case .disconnected = $0 { true } else { false } }
                #expect(first == .disconnected(fault.reason, detail: fault.detail, retryAfter: nil))
                #expect(log.disconnects == [fault.reason])
                #expect(Array(log.texts.prefix { $0 != "good" }) == fault.texts)
                #expect(log.events.prefix(1) == [.connecting])
                #expect(log.events.suffix(2) == [.connecting, .opened])
            })
    }
}
