import AirQuality
import FeedSimulation
import Synchronization
import WebSocket

/// The simulated feed inside the exporter, on a free loopback port; consumed like any other.
final class DemoFeed: Sendable {
    let address: WebSocketAddress
    private let server: WebSocketServer
    private let state: Mutex<State>

    private struct State {
        var simulator: FeedSimulator
        var nextAt: Duration
    }

    /// As often as the real feed spoke.
    private static let interval = Duration.seconds(2)

    /// The demo shows everything that a feed can bring.
    static let format = FeedFormat(pollutantsField: "pollutants", subindicesField: "subindices", placeField: "place")

    init(at now: Duration) throws {
        server = try WebSocketServer(WebSocketServerConfiguration(host: "127.0.0.1", port: 0))
        address = try WebSocketAddress("ws://127.0.0.1:\(server.port)/")
        state = Mutex(
            State(simulator: FeedSimulator(seed: .random(in: 0...UInt64.max), interval: Self.interval), nextAt: now))
    }

    /// Serves connections until ``stop()``; blocks.
    func run() { server.run() }
    func stop() { server.stop() }

    /// Broadcasts the next messages when they are due.
    func tick(at now: Duration) {
        let messages = state.withLock { state -> [[UInt8]] in
            guard now >= state.nextAt else { return [] }
            // Until a client is connected, check often, so that it gets its first message without waiting an interval.
            state.nextAt = now + (server.clientCount == 0 ? .milliseconds(10) : Self.interval)
            return server.clientCount == 0 ? [] : state.simulator.nextMessages()
        }
        for message in messages { server.broadcast(message) }
    }

    /// When ``tick(at:)`` has something to say.
    var nextTickAt: Duration { state.withLock { $0.nextAt } }
}
