import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Bytes
@testable import System
@testable import WebSocket

struct WebSocketPeerTests {
    @Test func `A client's close frame reaches the server even if the client leaves bytes unread`() throws {
        let ends = Mutex<[[UInt8]]>([])
        try withPeer(
            { peer, number in
                peer.acceptWebSocket()
                guard number == 0 else { return peer.holdOpen() }
                // The client leaves this unread when it ends the connection, which must not become a reset.
                peer.send(frame(0x81, "[]") + [0x83, 0] + [UInt8](repeating: 7, count: 1 << 20))
                let frame = peer.receiveFrame()
                ends.withLock { $0 = [[frame?.opcode ?? 0], frame?.payload ?? [], peer.receive()] }
            },
            { _, log in
                log.wait(for: "end") { _ in ends.withLock { !$0.isEmpty } }
                #expect(ends.withLock { $0 } == [[8], [3, 234], []])
                #expect(log.disconnects.first == .protocolError)
            })
    }

    @Test func `A client can be told to reconnect, pause and resume from another thread`() throws {
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
                // Each connection is read on its own thread, so the next close must not come before this one is read.
                func waitForCloses(_ count: Int) {
                    log.wait(for: "close frames") { _ in closes.withLock { $0.count } == count }
                }
                log.wait(for: "second connection") { $0.events.count { $0 == .opened } == 2 }
                waitForCloses(1)
                client.pause()
                log.wait(for: "pause") { $0.events.last == .paused }
                waitForCloses(2)
                client.resume()
                log.wait(for: "third connection") { $0.events.count { $0 == .opened } == 3 }
                let requested = WebSocketEvent.disconnected(.requested, detail: "reconnect requested", retryAfter: nil)
                let paused = WebSocketEvent.disconnected(.paused, detail: "pause requested", retryAfter: nil)
                #expect(
                    log.current.events == [
                        .connecting, .opened, requested, .connecting, .opened, paused, .paused, .resumed,
                        .connecting, .opened,
                    ])
                client.stop()
                log.wait(for: "return") { $0.hasReturned }
                waitForCloses(3)
                #expect(closes.withLock { $0 } == [[3, 232], [3, 232], [3, 233]])
            })
    }

    @Test func `A message that arrives while the thread is blocked prevents the idle time-out`() throws {
        let isRead = Gate()
        let isSent = Gate()
        let server = RawServer { peer, number in
            peer.acceptWebSocket()
            guard number == 0 else { return peer.holdOpen() }
            peer.send(frame(0x81, "first"))
            isRead.wait()
            peer.send(frame(0x81, "second"))
            isSent.open()
            peer.holdOpen()
        }
        defer { server.stop() }
        var settings = try configuration(port: server.port)
        settings.idleTimeout = .seconds(1)
        @Sendable func holdUp(_ log: ClientLog) -> MessageOutcome {
            guard log.texts == ["first"] else { return MessageOutcome() }
            isRead.open()
            isSent.wait()
            pauseThread(for: .milliseconds(1100))
            return MessageOutcome()
        }
        try withClient(settings, afterMessage: holdUp) { _, log in
            defer { server.stop() }
            let state = log.wait(for: "both messages") { $0.texts.count >= 2 }
            #expect(state.events == [.connecting, .opened])
        }
    }

    @Test func `A client whose handshake is not answered stops at once`() throws {
        try withPeer(
            { peer, _ in peer.holdOpen() },
            { client, log in
                log.wait(for: "attempt") { $0.events == [.connecting] }
                client.stop()
                log.wait(for: "return") { $0.hasReturned }
                #expect(log.disconnects == [.requested])
            })
    }
}
