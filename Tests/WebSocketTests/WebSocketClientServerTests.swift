import Synchronization
import Testing

@testable import System
@testable import WebSocket

@Suite struct WebSocketClientServerTests {
    @Test("a broadcast reaches each client whole and once") func broadcasts() throws {
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

    @Test("a client comes back when its server does, and says how the connection ended") func reconnects() throws {
        let server = try makeServer()
        let thread = try ServiceThread(name: "server") { server.run() }
        try withClient(configuration(port: server.port)) { _, log in
            log.wait(for: "connection") { $0.events.contains(.opened) }
            server.stop()
            thread.join()
            log.wait(for: "end") { _ in log.disconnects.contains(.closed) }
            log.wait(for: "failed dial") { _ in log.disconnects.contains(.refused) }
            try withServer(makeServer(port: server.port)) { _ in
                log.wait(for: "second connection") { $0.events.count { $0 == .opened } == 2 }
                #expect(log.disconnects.first == .closed)
            }
        }
    }

    @Test("stop closes with status 1001 and returns") func stops() throws {
        try withServer { server in
            let log = ClientLog()
            let client = WebSocketClient(
                configuration: try configuration(port: server.port), onEvent: { log.add($0) },
                onMessage: { log.add($0, $1) })
            let thread = try ServiceThread(name: "client") { client.run() }
            log.wait(for: "connection") { $0.events.contains(.opened) }
            client.stop()
            thread.join()
            #expect(log.disconnects == [.requested])
        }
    }
}
