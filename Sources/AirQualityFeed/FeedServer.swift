import System
import WebSocket

/// A feed's server, and the waits of the main thread, which sends the messages: for clients, for a time. Each wait ends
/// early with false when a signal ends the program.
struct FeedServer {
    /// How long clients have to answer the close frame.
    private static let closeTimeout: Duration = .seconds(5)

    private let server: WebSocketServer
    private let thread: ServiceThread
    private let signals: Signals

    /// Listens, and says where on standard output.
    /// - Parameters:
    ///   - headers: more header fields of the handshake's answer.
    ///   - greeting: the messages that a new client gets first; asked on the server's thread. Change what it tells
    ///     before you `send` the change, and no client misses anything.
    init(
        _ address: TCPAddress, signals: Signals, headers: [HTTPField] = [],
        greeting: @escaping @Sendable () -> [[UInt8]] = { [] }
    ) throws {
        var events = WebSocketServerEvents()
        events.onConnect = { _ in signals.wake() }
        events.onDisconnect = { _ in signals.wake() }
        let server = try WebSocketServer(
            listen: address.host, port: address.port, headers: headers, greeting: greeting, events: events)
        self.server = server
        self.signals = signals
        thread = try ServiceThread(name: "server") { server.run() }
        let shown = ListenAddress.tcp(host: address.host.isEmpty ? "localhost" : address.host, port: server.port)
        StandardStream.output.write("listening on ws://\(shown)/\n")
    }

    var hasClients: Bool { server.clientCount > 0 }

    /// Sends a message to all clients; it is lost when more waits for them than they may be behind.
    func send(_ message: [UInt8]) {
        server.broadcast(message)
    }

    func awaitClient() -> Bool {
        wait(until: nil) { hasClients }
    }

    func wait(until deadline: Duration) -> Bool {
        wait(until: deadline) { false }
    }

    /// Tells all clients that this is the end (close status 1000), and waits until they have gone.
    func finish() {
        server.close(status: 1000)
        _ = wait(until: monotonicTime() + Self.closeTimeout) { !hasClients }
    }

    /// Ends the server; clients that are still there are told that it goes away (close status 1001).
    func stop() {
        server.stop()
        thread.join()
    }

    /// - Parameter isReached: asked again after each wake of the signals.
    func wait(until deadline: Duration?, orUntil isReached: () -> Bool) -> Bool {
        while true {
            let rest = deadline.map { max($0 - monotonicTime(), .zero) }
            let isOver = rest == .zero || isReached()
            // Looked at even when there is nothing to wait for. A wake says only that something is new.
            if signals.wait(for: isOver ? .zero : rest) != nil { return false }
            if isOver { return true }
        }
    }
}
