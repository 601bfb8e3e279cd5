import FeedSimulation
import Transport

/// The simulated feed inside the exporter, on a free loopback port; consumed like any other.
final class DemoFeed: Sendable {
    let address: WebSocketAddress
    private let server: WebSocketServer
    private let bell = StopBell()

    /// As often as the real feed spoke.
    private static let interval = Duration.seconds(2)

    init() throws {
        server = try WebSocketServer(listen: "127.0.0.1", port: 0)
        address = try WebSocketAddress("ws://127.0.0.1:\(server.port)/")
    }

    /// One thread for the connections, one that says something every interval.
    func start() throws -> [ServiceThread] {
        [try ServiceThread(name: "demo-server", body: server.run), try ServiceThread(name: "demo-feed", body: speak)]
    }

    private func speak() {
        repeat {
        } while !bell.waitToStop(for: Self.interval)
    }

    func stop() {
        bell.stop()
        server.stop()
    }
}
