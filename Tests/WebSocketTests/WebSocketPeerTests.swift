import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Bytes
@testable import System
@testable import WebSocket

@Suite struct WebSocketPeerTests {
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
            log.wait(for: "connection") { $0.events == [.connecting, .opened] }
        }
    }

    @Test("the request") func request() throws {
        let seen = Mutex("")
        try withPeer(
            change: {
                $0.address = try! WebSocketAddress("ws://user:pass@127.0.0.1:\($0.address.port)/a/b?c=d%20e")
                $0.headers = { .success([HTTPField(name: "X-Key", value: "secret")]) }
            },
            { peer, _ in
                let request = peer.acceptWebSocket()
                seen.withLock { $0 = request }
                peer.holdOpen()
            },
            { _, log in
                // The client may have been answered before the request is noted.
                log.wait(for: "connection") { $0.events.contains(.opened) && seen.withLock { !$0.isEmpty } }
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
                        : .success([HTTPField(name: "X-Try", value: "3")])
                }
            },
            { peer, number in
                #expect(peer.acceptWebSocket().contains("X-Try: 3\r\n"))
                peer.holdOpen()
            },
            { _, log in
                log.wait(for: "connection") { $0.events.contains(.opened) }
                #expect(log.disconnects == [.handshake, .handshake])
                #expect(
                    log.current.events[1] == .disconnected(.handshake, detail: "cannot read headers", retryAfter: nil))
            })
    }

    @Test("headers that are too long") func longHeaders() throws {
        try withPeer(
            change: {
                $0.headers = { .success([HTTPField(name: "X", value: String(repeating: "x", count: 1 << 20))]) }
            },
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

    @Test("the answer's fields come with the connection, subprotocols go with the request") func fields() throws {
        let seen = Mutex("")
        try withPeer(
            change: { $0.subprotocols = ["aqi.v2", "aqi.v1"] },
            { peer, _ in
                let (request, accept) = peer.receiveRequest()
                seen.withLock { $0 = request }
                let source = "Air-Quality-Source: open-meteo; kind=model\r\nair-quality-source: other\r\n"
                peer.send(goodAnswer(accept, "Sec-WebSocket-Protocol: aqi.v1\r\n" + source))
                peer.holdOpen()
            },
            { _, log in
                log.wait(for: "connection") { !$0.answers.isEmpty }
                #expect(log.current.answers[0].first("Air-Quality-Source") == "open-meteo; kind=model")
                #expect(log.current.answers[0].first("sec-websocket-protocol") == "aqi.v1")
                #expect(seen.withLock { $0 }.contains("\r\nSec-WebSocket-Protocol: aqi.v2, aqi.v1\r\n"))
            })
    }

    @Test("a close frame is the last that the peer reads, however much of its own it has sent") func lastWords() throws
    {
        let ends = Mutex<[[UInt8]]>([])
        try withPeer(
            { peer, number in
                peer.acceptWebSocket()
                guard number == 0 else { return peer.holdOpen() }
                // Unread when the client ends the connection, which must not make it a reset.
                peer.send(serverFrame(0x81, "[]") + [0x83, 0] + [UInt8](repeating: 7, count: 1 << 20))
                let frame = peer.receiveFrame()
                ends.withLock { $0 = [[frame?.opcode ?? 0], frame?.payload ?? [], peer.receive()] }
            },
            { _, log in
                log.wait(for: "end") { _ in ends.withLock { !$0.isEmpty } }
                #expect(ends.withLock { $0 } == [[8], [3, 234], []])
                #expect(log.disconnects.first == .protocolError)
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
                log.wait(for: "second connection") { $0.events.count { $0 == .opened } == 2 }
                #expect(log.texts == ["ab"])
                #expect(log.disconnects == [.closed])
                log.wait(for: "what the first one has received") { _ in seen.withLock { $0.count } == 2 }
                #expect(opcodes.withLock { $0 } == [10, 8])
                #expect(seen.withLock { $0 } == [Array("ping".utf8), [0x0F, 0xA0]])
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
                log.wait(for: "connection") { $0.events.contains(.opened) }
                client.reconnect()
                // Each connection is read on a thread of its own, so the next goodbye must not come before this one is read.
                func waitForGoodbyes(_ count: Int) {
                    log.wait(for: "goodbyes") { _ in closes.withLock { $0.count } == count }
                }
                log.wait(for: "second connection") { $0.events.count { $0 == .opened } == 2 }
                waitForGoodbyes(1)
                client.pause()
                log.wait(for: "pause") { $0.events.last == .paused }
                waitForGoodbyes(2)
                client.resume()
                log.wait(for: "third connection") { $0.events.count { $0 == .opened } == 3 }
                let requested = WebSocketEvent.disconnected(.requested, detail: "told to reconnect", retryAfter: nil)
                let paused = WebSocketEvent.disconnected(.paused, detail: "told to pause", retryAfter: nil)
                #expect(
                    log.current.events == [
                        .connecting, .opened, requested, .connecting, .opened, paused, .paused, .resumed,
                        .connecting, .opened,
                    ])
                client.stop()
                log.wait(for: "return") { $0.hasReturned }
                waitForGoodbyes(3)
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
                #expect(monotonicTime() - client.lastTick < WebSocketClient.maximumSleep + .seconds(5))
            })
    }
}
