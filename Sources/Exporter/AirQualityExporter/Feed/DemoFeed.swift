import AirQuality
import FeedSimulation
import HTTPText
import System
import WebSocket

/// The simulated feed inside the exporter, on a free loopback port; read like any other.
final class DemoFeed: Sendable {
    let address: WebSocketAddress
    private let server: WebSocketServer
    private let connections: ServiceThread
    private let isStopped = Monitor(false)

    /// The interval of the real feed.
    private static let interval = Duration.seconds(2)

    /// Short, so that a visitor sees categories change.
    private static let day = Duration.seconds(1800)

    /// Accepts connections at once.
    init() throws {
        var configuration = WebSocketServerConfiguration(address: .tcp(host: "127.0.0.1", port: 0))
        configuration.headers = [HTTPField(name: FeedSource.fieldName, value: FeedSource.simulation)]
        server = try WebSocketServer(configuration)
        address = try WebSocketAddress("ws://127.0.0.1:\(server.port)/")
        connections = try ServiceThread(name: "demo-server", body: server.run)
    }

    /// Sends messages until ``stop()``. Blocks.
    func run() {
        var simulator = FeedSimulator(seed: .random(in: 0...UInt64.max), interval: Self.interval, day: Self.day)
        var pause: Duration
        repeat {
            // Checks often until a client is connected, so that it gets its first message at once.
            pause = .milliseconds(10)
            if server.clientCount > 0 {
                for message in simulator.nextMessages() { server.broadcast(message) }
                pause = Self.interval
            }
        } while isStopped.wait(until: monotonicTime() + pause) { $0 ? true : nil } == nil
        server.stop()
        connections.join()
    }

    func stop() { isStopped.change { $0 = true } }
}
