import AirQuality
import FeedSimulation
import System
import WebSocket

/// The simulated feed inside the exporter, on a free loopback port; consumed like any other.
final class DemoFeed: Sendable {
    let address: WebSocketAddress
    private let server: WebSocketServer
    private let connections: ServiceThread
    private let isStopped = Monitor(false)

    /// As often as the real feed spoke.
    private static let interval = Duration.seconds(2)

    /// The demo shows everything that a feed can bring.
    static let format = FeedFormat(pollutantsField: "pollutants", subindicesField: "subindices", placeField: "place")

    /// Serves connections at once.
    init() throws {
        server = try WebSocketServer(WebSocketServerConfiguration(address: .tcp(host: "127.0.0.1", port: 0)))
        address = try WebSocketAddress("ws://127.0.0.1:\(server.port)/")
        connections = try ServiceThread(name: "demo-server", body: server.run)
    }

    /// Sends messages until ``stop()``; blocks.
    func run() {
        var simulator = FeedSimulator(seed: .random(in: 0...UInt64.max), interval: Self.interval)
        var pause: Duration
        repeat {
            // Until a client is connected, looks often, so that it gets its first message without waiting an interval.
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
