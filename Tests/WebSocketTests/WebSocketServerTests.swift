import Bytes
import HTTPText
import Synchronization
import TestSupport
import Testing

@testable import System
@testable import WebSocket

struct WebSocketServerTests {
    private let request = """
        GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n
        """

    /// An upgraded connection that reads only when the test does.
    private func rawClient(of server: WebSocketServer) throws -> RawHTTPClient {
        let client = try RawHTTPClient(port: server.port, receiveBuffer: 4096)
        client.send(request)
        try client.awaitBytes()
        return client
    }

    @Test func `Broadcasts reach every client whole and exactly once`() throws {
        let texts =
            ["[]", String(repeating: "x", count: 125), String(repeating: "y", count: 126)]
            + [65535, 65536, 3_000_000].map { String(repeating: "z", count: $0) }
        try withServer { server in
            try withClient(configuration(port: server.port)) { _, one in
                try withClient(configuration(port: server.port)) { _, two in
                    for log in [one, two] { log.wait(for: "connection") { $0.events.contains(.opened) } }
                    for text in texts { server.broadcast(Array(text.utf8)) }
                    for log in [one, two] {
                        log.wait(for: "messages") { $0.messages.count == texts.count }
                        #expect(log.texts == texts)
                        #expect(log.current.messages.allSatisfy { $0.kind == .text })
                    }
                }
            }
        }
    }

    @Test func `A client that does not read is disconnected, and the others receive everything`() throws {
        let counts = Mutex<[Int]>([])
        let server = try makeServer {
            $0.onClientCount = { count in counts.withLock { $0.append(count) } }
            $0.maximumQueuedBytes = 1 << 20
        }
        try withServer(server) { _ in
            try withClient(configuration(port: server.port)) { _, log in
                log.wait(for: "connection") { $0.events.contains(.opened) }
                let slow = try rawClient(of: server)
                eventually("the slow client") { server.clientCount == 2 }
                let text = String(repeating: "x", count: 100_000)
                var sent = 0
                // More than may wait for a client, plus what the sockets hold and the message under way.
                while server.clientCount == 2, sent < 1000 {
                    server.broadcast(Array(text.utf8))
                    sent += 1
                    log.wait(for: "message \(sent)") { $0.messages.count == sent }
                }
                eventually("the end of the slow client") { server.clientCount == 1 }
                #expect(sent > 10, "a megabyte may wait")
                #expect(try slow.readToEnd().count < sent * text.utf8.count)
                server.broadcast(Array("last".utf8))
                log.wait(for: "the last message") { $0.messages.last?.text == "last" }
                #expect(log.texts.dropLast().allSatisfy { $0 == text })
                #expect(log.disconnects.isEmpty)
            }
        }
        #expect(counts.withLock { Array($0.prefix(3)) } == [1, 2, 1])
    }

    @Test func `After close no client is accepted, even one that has begun the handshake`() throws {
        try withServer { server in
            // Does not reply to the close frame, so that the server has to wait for it.
            let silent = try rawClient(of: server)
            _ = try silent.readHead()
            let halfway = try RawHTTPClient(port: server.port)
            halfway.send(String(request.dropLast(2)))
            server.close()
            try silent.awaitBytes()
            // This completes its request.
            halfway.send("\r\n\r\n")
            #expect(try halfway.readToEnd() == [])
            let late = try RawHTTPClient(port: server.port)
            late.send(request)
            #expect(try late.readToEnd() == [])
        }
    }

    @Test func `A new client receives the greeting first and then every broadcast`() throws {
        let known = Mutex(["one", "two"])
        let server = try makeServer { $0.greeting = { known.withLock { $0.map { Array($0.utf8) } } } }
        try withServer(server) { _ in
            try withClient(configuration(port: server.port)) { _, first in
                first.wait(for: "the greeting") { $0.texts == ["one", "two"] }
                known.withLock { $0 = ["two", "three"] }
                server.broadcast(Array("three".utf8))
                first.wait(for: "the broadcast") { $0.texts == ["one", "two", "three"] }
                try withClient(configuration(port: server.port)) { _, second in
                    second.wait(for: "the later greeting") { $0.texts == ["two", "three"] }
                }
            }
        }
    }

    @Test func `A greeting longer than the queue limit does not disconnect the client`() throws {
        let greeting = (0..<40).map { Array(String(repeating: "\($0 % 10)", count: 100_000).utf8) }
        let server = try makeServer {
            $0.maximumQueuedBytes = 1 << 20
            $0.greeting = { greeting }
        }
        try withServer(server) { _ in
            let client = try rawClient(of: server)
            for _ in 0..<5 { server.broadcast(Array(repeating: UInt8(ascii: "x"), count: 100_000)) }
            server.close()
            // All of it: the bytes of 45 messages, with a header of ten bytes each.
            #expect(try client.readToEnd().count > 45 * 100_000)
        }
    }

    @Test func `A greeting and the broadcasts after it arrive in order`() throws {
        let newest = Mutex(0)
        let server = try makeServer {
            $0.greeting = {
                // Gives others time to broadcast meanwhile.
                pauseThread(for: .milliseconds(20))
                return [Array("\(newest.withLock { $0 })".utf8)]
            }
        }
        try withServer(server) { _ in
            try withClient(configuration(port: server.port)) { _, first in
                first.wait(for: "connection") { $0.events.contains(.opened) }
                let isDone = Mutex(false)
                let speaker = try ServiceThread(name: "speaker") {
                    while !isDone.withLock({ $0 }) {
                        let number = newest.withLock { newest in
                            newest += 1
                            return newest
                        }
                        server.broadcast(Array("\(number)".utf8))
                        // Some messages always wait, but never so many that nothing advances.
                        eventually("the first client") { first.current.messages.count > number - 20 }
                    }
                }
                defer {
                    isDone.withLock { $0 = true }
                    speaker.join()
                }
                for _ in 0..<5 {
                    try withClient(configuration(port: server.port)) { _, log in
                        log.wait(for: "messages") { $0.texts.count > 50 }
                        let numbers = log.texts.compactMap { Int($0) }
                        guard numbers.count > 50 else { return }
                        // At most the number of the greeting again; then each one greater.
                        let rest = numbers.dropFirst(numbers[1] == numbers[0] ? 1 : 0)
                        #expect(zip(rest, rest.dropFirst()).allSatisfy { $1 == $0 + 1 }, "\(numbers.prefix(9))")
                    }
                }
            }
        }
    }

    @Test func `An address that cannot be listened on is reported on one line with the reason`() throws {
        try withServer { other in
            for host in ["127.0.0.1", ""] {
                #expect(
                    throws: SystemError(.address, "cannot listen on \(host):\(other.port): the address is in use")
                ) {
                    try makeServer(host: host, port: other.port)
                }
            }
        }
        #expect(throws: SystemError(.address, "cannot listen on 192.0.2.1:0: Cannot assign requested address")) {
            try makeServer(host: "192.0.2.1")
        }
        #expect(throws: SystemError(.address, "cannot listen on name.invalid:0: no such host")) {
            try makeServer(host: "name.invalid")
        }
    }

    @Test func `The port of a stopped server is free at once`() throws {
        let port = Mutex(0)
        try withServer { server in
            port.withLock { $0 = server.port }
            try withClient(configuration(port: server.port)) { _, log in
                log.wait(for: "connection") { $0.events.contains(.opened) }
                server.stop()
                log.wait(for: "end") { _ in log.disconnects.contains(.closed) }
            }
        }
        let freed = port.withLock { $0 }
        #expect(try makeServer(port: freed).port == freed)
    }
}
