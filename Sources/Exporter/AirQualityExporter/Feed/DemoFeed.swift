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
    private let state = Monitor(State())

    private struct State {
        var clients = 0
        var isStopped = false
    }

    /// The interval of the real feed.
    private static let interval = Duration.seconds(2)

    /// Short, so that a visitor sees categories change.
    private static let day = Duration.seconds(1800)

    /// Accepts connections at once.
    init() throws {
        var configuration = WebSocketServerConfiguration(address: .tcp(host: "127.0.0.1", port: 0))
        configuration.headers = [HTTPField(name: FeedSource.fieldName, value: FeedSource.simulation)]
        configuration.onClientCount = { [state] count in state.change { $0.clients = count } }
        server = try WebSocketServer(configuration)
        address = try WebSocketAddress("ws://127.0.0.1:\(server.port)/")
        connections = try ServiceThread(name: "demo-server", body: server.run)
    }

    /// Sends messages until ``stop()``. Blocks.
    func run() {
        var simulator = FeedSimulator(seed: .random(in: 0...UInt64.max), interval: Self.interval, day: Self.day)
        while awaitClient() {
            for message in simulator.nextMessages() { server.broadcast(message) }
            _ = state.wait(until: monotonicTime() + Self.interval) { $0.isStopped ? true : nil }
        }
        server.stop()
        connections.join()
    }

    /// Returns whether there is one; `false` after ``stop()``.
    private func awaitClient() -> Bool {
        state.wait { state in
            if state.isStopped { return false }
            return state.clients > 0 ? true : nil
        } ?? false
    }

    func stop() { state.change { $0.isStopped = true } }
}
