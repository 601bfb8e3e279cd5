import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Bytes
@testable import System
@testable import WebSocket

extension RawServer.Connection {
    /// Reads the request and answers it as RFC 6455 wants; gives the request.
    @discardableResult func acceptWebSocket(extensions: String? = nil) -> String {
        let request = receive(upTo: "\r\n\r\n")
        let key = request.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst(19) ?? ""
        send(
            """
            HTTP/1.1 101 Switching Protocols\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Accept: \(acceptValue(key: String(key)))\r
            \(extensions.map { "Sec-WebSocket-Extensions: \($0)\r\n" } ?? "")\r

            """)
        return request
    }

    /// A client's frame: its opcode and what it carries; nil at the end of the stream.
    func receiveFrame() -> (opcode: UInt8, payload: [UInt8])? {
        let head = receive(count: 2)
        guard head.count == 2 else { return nil }
        #expect(head[0] & 0xF0 == 0x80, "final, no reserved bit")
        #expect(head[1] & 0x80 == 0x80, "masked")
        var length = Int(head[1] & 0x7F)
        if length == 126 { length = receive(count: 2).reduce(0) { $0 << 8 | Int($1) } }
        let mask = receive(count: 4)
        let payload = receive(count: length)
        guard mask.count == 4, payload.count == length else { return nil }
        return (head[0] & 0x0F, payload.enumerated().map { $1 ^ mask[$0 % 4] })
    }
}

/// RFC 6455, section 1.3; `HandshakeTests` checks it against the RFC's own example.
private func acceptValue(key: String) -> String {
    let dial = ConnectionState.Dial(
        ipAddress: "127.0.0.1", address: try! WebSocketAddress("ws://127.0.0.1/"), isTrusted: true)
    let request = try! HandshakeRequest(dial, headers: [], key: decodeBase64(Array(key.utf8)[...]) ?? [])
    return request.expectedAccept
}

/// Runs the body with a client of a server that serves each connection so.
private func withPeer(
    change: (inout WebSocketClientConfiguration) -> Void = { _ in },
    _ serve: @escaping @Sendable (RawServer.Connection, Int) -> Void,
    _ body: (WebSocketClient, ClientLog) throws -> Void
) throws {
    let server = RawServer(serve)
    defer { server.stop() }
    var configuration = try configuration(port: server.port)
    change(&configuration)
    try withClient(configuration) { client, log in
        // Before the client, which would wait for its goodbye to be answered.
        defer { server.stop() }
        try body(client, log)
    }
}

@Suite struct WebSocketPeerTests {
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
            Fault(
                name: "an answer that is not HTTP", reason: .timeout,
                detail: "no connection within 0.8 seconds: no answer to the handshake",
                change: { $0.connectTimeout = .milliseconds(800) },
                serve: { peer in
                    _ = peer.receive(upTo: "\r\n\r\n")
                    peer.send("220 mail.example.com ESMTP\r\n\r\n")
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
            sends("masked frame", .protocolError, "masked frame from the server", [0x81, 0x82, 1, 2, 3, 4, 5, 6]),
            sends("reserved opcode", .protocolError, "reserved opcode 3", [0x83, 0]),
            sends("reserved bit", .protocolError, "reserved bit set in a frame", [0xA1, 0]),
            sends(
                "compressed without an agreement", .protocolError, "compressed frame without an agreement", [0xC1, 0]),
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
                #expect(log.events.suffix(2) == [.connecting, .connected])
            })
    }

    @Test("nobody listens") func refused() throws {
        let server = RawServer { _, _ in }
        let port = server.port
        server.stop()
        try withClient(configuration(port: port)) { _, log in
            log.wait(for: "several attempts") { _ in log.disconnects.count >= 3 }
            #expect(
                log.current.events[1]
                    == .disconnected(.refused, detail: "cannot connect to 127.0.0.1 port \(port)", retryAfter: nil))
            #expect(Set(log.disconnects) == [.refused])
        }
    }

    @Test("a name that there is not") func resolve() throws {
        var configuration = WebSocketClientConfiguration(
            address: try WebSocketAddress("ws://no-such-host.invalid/"))
        configuration.connectTimeout = .seconds(20)
        try withClient(configuration) { _, log in
            log.wait(for: "end") { _ in !log.disconnects.isEmpty }
            #expect(log.disconnects.first == .resolve)
        }
    }

    @Test("a name of several addresses, of which not all answer") func names() throws {
        let server = RawServer { peer, _ in
            peer.acceptWebSocket()
            peer.holdOpen()
        }
        defer { server.stop() }
        // On most machines also ::1, where nobody listens.
        let address = try WebSocketAddress("ws://localhost:\(server.port)/")
        try withClient(WebSocketClientConfiguration(address: address)) { _, log in
            log.wait(for: "connection") { $0.events == [.connecting, .connected] }
        }
    }

    @Test("the request") func request() throws {
        let seen = Mutex("")
        try withPeer(
            change: {
                $0.address = try! WebSocketAddress("ws://user:pass@127.0.0.1:\($0.address.port)/a/b?c=d%20e")
                $0.headers = { .success([(name: "X-Key", value: "secret")]) }
            },
            { peer, _ in
                let request = peer.acceptWebSocket()
                seen.withLock { $0 = request }
                peer.holdOpen()
            },
            { _, log in
                // The client may have been answered before the request is noted.
                log.wait(for: "connection") { $0.events.contains(.connected) && seen.withLock { !$0.isEmpty } }
                let lines = seen.withLock { $0 }.split(separator: "\r\n").map(String.init)
                #expect(lines.first == "GET /a/b?c=d%20e HTTP/1.1")
                let host = lines.filter { $0.lowercased().hasPrefix("host:") }
                #expect(host.count == 1 && host[0].hasPrefix("Host: 127.0.0.1:"))
                #expect(lines.filter { $0.lowercased().hasPrefix("connection:") } == ["Connection: Upgrade"])
                for line in [
                    "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Authorization: Basic dXNlcjpwYXNz",
                    "X-Key: secret",
                ] {
                    #expect(lines.contains(line))
                }
            })
    }

    @Test("headers are asked for at each attempt; without them there is none") func headers() throws {
        let attempts = Mutex(0)
        try withPeer(
            change: { configuration in
                configuration.headers = {
                    let attempt = attempts.withLock {
                        $0 += 1
                        return $0
                    }
                    return attempt < 3
                        ? .failure(SystemError(.file, "cannot read headers"))
                        : .success([(name: "X-Try", value: "3")])
                }
            },
            { peer, number in
                #expect(peer.acceptWebSocket().contains("X-Try: 3\r\n"))
                peer.holdOpen()
            },
            { _, log in
                log.wait(for: "connection") { $0.events.contains(.connected) }
                #expect(log.disconnects == [.handshake, .handshake])
                #expect(
                    log.current.events[1] == .disconnected(.handshake, detail: "cannot read headers", retryAfter: nil))
            })
    }

    @Test("headers that are too long") func longHeaders() throws {
        try withPeer(
            change: { $0.headers = { .success([(name: "X", value: String(repeating: "x", count: 1 << 20))]) } },
            { peer, _ in peer.holdOpen() },
            { _, log in
                log.wait(for: "end") { _ in !log.disconnects.isEmpty }
                #expect(log.disconnects.first == .handshake)
            })
    }

    @Test("Retry-After comes with the disconnect") func retryAfter() throws {
        try withPeer(
            { peer, number in
                _ = peer.receive(upTo: "\r\n\r\n")
                peer.send("HTTP/1.1 503 Busy\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n")
                peer.holdOpen()
            },
            { client, log in
                log.wait(for: "end") { _ in !log.disconnects.isEmpty }
                #expect(
                    log.current.events.last
                        == .disconnected(.handshake, detail: "status 503 instead of 101", retryAfter: .seconds(3600)))
            })
    }

    @Test("a redirect is followed, and what it leads to is answered") func redirect() throws {
        let other = RawServer { peer, _ in
            let request = peer.acceptWebSocket()
            peer.send(serverFrame(0x81, String(request.prefix { $0 != "\r" && $0 != "\r\n" })))
            peer.holdOpen()
        }
        defer { other.stop() }
        try withPeer(
            { peer, _ in
                _ = peer.receive(upTo: "\r\n\r\n")
                peer.send(
                    "HTTP/1.1 307 There\r\nLocation: http://127.0.0.1:\(other.port)/new?x\r\nContent-Length: 0\r\n\r\n")
                peer.holdOpen()
            },
            { _, log in
                log.wait(for: "message") { !$0.messages.isEmpty }
                #expect(log.texts == ["GET /new?x HTTP/1.1"])
                #expect(log.current.events == [.connecting, .connected])
            })
    }

    @Test("subscriptions are sent after each connect, in order") func subscriptions() throws {
        let seen = Mutex<[[String]]>([])
        try withPeer(
            change: { $0.subscriptions = ["one", "zwei – 2", String(repeating: "3", count: 200)] },
            { peer, _ in
                peer.acceptWebSocket()
                let frames = (0..<3).compactMap { _ in peer.receiveFrame() }
                // The end of the test may cut off the last connection.
                guard frames.count == 3 else { return }
                #expect(frames.allSatisfy { $0.opcode == 1 })
                seen.withLock { $0.append(frames.map { String(decoding: $0.payload, as: UTF8.self) }) }
            },
            { client, log in
                log.wait(for: "two connections") { _ in seen.withLock { $0.count >= 2 } }
                let sent = ["one", "zwei – 2", String(repeating: "3", count: 200)]
                #expect(seen.withLock { $0.prefix(2) } == [sent, sent])
            })
    }

    @Test("pings and closes are answered, between the fragments of a message and byte by byte") func answers() throws {
        let seen = Mutex<[[UInt8]]>([])
        let opcodes = Mutex<[UInt8]>([])
        try withPeer(
            { peer, number in
                peer.acceptWebSocket()
                guard number == 0 else { return peer.holdOpen() }
                let bytes = serverFrame(0x01, "a") + serverFrame(0x89, "ping") + serverFrame(0x80, "b")
                for byte in bytes {
                    peer.send([byte])
                    usleep(200)
                }
                func note() {
                    guard let frame = peer.receiveFrame() else { return }
                    opcodes.withLock { $0.append(frame.opcode) }
                    seen.withLock { $0.append(frame.payload) }
                }
                note()
                peer.send(serverFrame(0x88, [0x0F, 0xA0] + Array("go".utf8)))
                note()
                // Then the client ends the connection.
                #expect(peer.receive() == [])
            },
            { _, log in
                log.wait(for: "second connection") { $0.events.count { $0 == .connected } == 2 }
                #expect(log.texts == ["ab"])
                #expect(log.disconnects == [.closed])
                log.wait(for: "what the first one has received") { _ in seen.withLock { $0.count } == 2 }
                #expect(opcodes.withLock { $0 } == [10, 8])
                #expect(seen.withLock { $0 } == [Array("ping".utf8), [0x0F, 0xA0]])
            })
    }

    @Test("a flood of pings is answered without a queue") func pingFlood() throws {
        let pongs = Mutex(0)
        try withPeer(
            { peer, number in
                peer.acceptWebSocket()
                // The end of the test would cut it off.
                guard number == 0 else { return peer.holdOpen() }
                for round in 0..<100 { peer.send((0..<1000).flatMap { serverFrame(0x89, "\(round * 1000 + $0)") }) }
                peer.send(serverFrame(0x81, "after"))
                var last: [UInt8] = []
                while last != Array("99999".utf8), let frame = peer.receiveFrame(), frame.opcode == 10 {
                    pongs.withLock { $0 += 1 }
                    last = frame.payload
                }
                #expect(last == Array("99999".utf8))
                // Not before: who is told to close need not answer a ping any more (RFC 6455, section 5.5.2).
                peer.send(serverFrame(0x88, [3, 232]))
                _ = peer.receiveFrame()
            },
            { client, log in
                log.wait(for: "end") { _ in log.disconnects.contains(.closed) }
                #expect(log.texts.contains("after"))
                #expect(pongs.withLock { (1...100_000).contains($0) })
            })
    }

    @Test("messages of one-byte fragments and in one-byte pieces") func fragments() throws {
        let text = "[{\"city\":\"Pune\",\"aqi\":51.5}]"
        try withPeer(
            { peer, _ in
                peer.acceptWebSocket()
                var bytes = serverFrame(0x01)
                for byte in text.utf8 { bytes += serverFrame(0x00, [byte]) }
                bytes += serverFrame(0x80)
                for byte in bytes { peer.send([byte]) }
                peer.holdOpen()
            },
            { _, log in
                log.wait(for: "message") { !$0.messages.isEmpty }
                #expect(log.texts == [text])
            })
    }

    @Test("what comes in one piece with the answer is read") func early() throws {
        try withPeer(
            { peer, _ in
                let request = peer.receive(upTo: "\r\n\r\n")
                let key =
                    request.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst(19) ?? ""
                let answer =
                    "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
                    + acceptValue(key: String(key)) + "\r\n\r\n"
                let messages = (0..<2000).flatMap { serverFrame(0x81, "\($0)") }
                peer.send(Array(answer.utf8) + messages)
                peer.holdOpen()
            },
            { _, log in
                log.wait(for: "messages") { $0.messages.count >= 2000 }
                #expect(log.texts == (0..<2000).map { "\($0)" })
            })
    }

    @Test("text that is not UTF-8, binary and too long: reported, the connection is kept") func kinds() throws {
        try withPeer(
            change: { $0.maximumMessageBytes = 10 },
            { peer, _ in
                peer.acceptWebSocket()
                peer.send(
                    serverFrame(0x81, [0xFF]) + serverFrame(0x82, [1]) + serverFrame(0x81, "12345678901")
                        + serverFrame(0x81, "ok"))
                peer.holdOpen()
            },
            { _, log in
                log.wait(for: "messages") { $0.messages.count == 4 }
                #expect(log.current.messages.map(\.kind) == [.text, .binary, .tooLarge(bytes: 11), .text])
                #expect(log.current.messages.map(\.bytes) == [[0xFF], [1], [], Array("ok".utf8)])
                #expect(log.current.events == [.connecting, .connected])
            })
    }

    @Test("compressed messages, and a bomb") func compression() throws {
        let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        let bomb = deflatedZeros(bytes: 32 << 20)
        try withPeer(
            change: { $0.maximumMessageBytes = 1 << 20 },
            { peer, _ in
                let request = peer.acceptWebSocket(
                    extensions: "permessage-deflate; server_no_context_takeover; client_no_context_takeover")
                #expect(request.contains("Sec-WebSocket-Extensions: \(HandshakeRequest.compressionOffer)\r\n"))
                peer.send(serverFrame(0xC1, hello) + serverFrame(0xC1, bomb) + serverFrame(0xC1, hello))
                peer.holdOpen()
            },
            { _, log in
                log.wait(for: "messages") { $0.messages.count == 3 }
                #expect(log.texts == ["Hello", "", "Hello"])
                #expect(log.current.messages[1].kind == .tooLarge(bytes: bomb.count))
            })
    }

    @Test("reconnect, pause and resume from another thread") func orders() throws {
        let closes = Mutex<[[UInt8]]>([])
        try withPeer(
            { peer, _ in
                peer.acceptWebSocket()
                while let frame = peer.receiveFrame() {
                    if frame.opcode == 8 { closes.withLock { $0.append(frame.payload) } }
                }
            },
            { client, log in
                log.wait(for: "connection") { $0.events.contains(.connected) }
                client.reconnect()
                log.wait(for: "second connection") { $0.events.count { $0 == .connected } == 2 }
                client.pause()
                log.wait(for: "pause") { $0.events.last == .paused }
                client.resume()
                log.wait(for: "third connection") { $0.events.count { $0 == .connected } == 3 }
                let requested = WebSocketEvent.disconnected(.requested, detail: "told to reconnect", retryAfter: nil)
                let paused = WebSocketEvent.disconnected(.paused, detail: "told to pause", retryAfter: nil)
                #expect(
                    log.current.events == [
                        .connecting, .connected, requested, .connecting, .connected, paused, .paused, .resumed,
                        .connecting, .connected,
                    ])
                client.stop()
                log.wait(for: "return") { $0.hasReturned }
                log.wait(for: "goodbyes") { _ in closes.withLock { $0.count } == 3 }
                #expect(closes.withLock { $0 } == [[3, 232], [3, 232], [3, 233]])
            })
    }

    @Test("a client that has never reached its server stops at once") func stopsEarly() throws {
        try withPeer(
            { peer, _ in peer.holdOpen() },
            { client, log in
                log.wait(for: "attempt") { $0.events == [.connecting] }
                client.stop()
                log.wait(for: "return") { $0.hasReturned }
                #expect(log.disconnects == [.requested])
            })
    }

    @Test("the loop ticks while nothing happens") func ticks() throws {
        try withPeer(
            { peer, _ in peer.holdOpen() },
            { client, log in
                log.wait(for: "attempt") { $0.events == [.connecting] }
                let first = client.lastTick
                log.wait(for: "tick") { _ in client.lastTick > first + .milliseconds(100) }
                #expect(monotonicTime() - client.lastTick < WebSocketClient.longestSleep + .seconds(5))
            })
    }
}
