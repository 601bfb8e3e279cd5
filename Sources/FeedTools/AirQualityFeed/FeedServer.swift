import CommandLine
import System
import WebSocket

extension ParsedFlags {
    /// Starts a server on the address of a flag, and reports an unusable address as that flag's error.
    func listening<Server>(_ flag: String, start: () throws -> Server) throws -> Server {
        do {
            return try start()
        } catch let error as SystemError where error.code == .address {
            throw rejection(of: flag, expected: "a free address: \(error.reason)")
        }
    }
}

/// A feed's server, on which the main thread sends messages and waits. A wait returns `false` if a signal ends it.
struct FeedServer {
    private let server: WebSocketServer
    private let thread: ServiceThread
    private let signals: Signals
    private let notify = NotifySocket()

    /// Listens, and prints the address on standard output unless that stays blocked for a second.
    init(_ configuration: WebSocketServerConfiguration, signals: Signals) throws {
        var configuration = configuration
        configuration.onClientCount = { _ in signals.wake() }
        try OpenFileLimit.require(64)
        let server = try WebSocketServer(configuration)
        self.server = server
        self.signals = signals
        thread = try ServiceThread(name: "server") { server.run() }
        let host = if case .tcp(let host, _) = configuration.address, !host.isEmpty { host } else { "localhost" }
        let shown = ListenAddress.tcp(host: host, port: server.port)
        StandardStream.output.write("listening on ws://\(shown)/\n", within: .seconds(1))
        notify?.send("READY=1")
    }

    var hasClients: Bool { server.clientCount > 0 }

    /// Sends a message to all clients, except those too far behind.
    func send(_ message: [UInt8]) { server.broadcast(message) }

    func awaitClient() -> Bool { wait(until: nil) { hasClients } }

    /// Sends each client a close frame (status 1000) after its queued messages, and waits up to a minute for the end.
    func finish() {
        server.close(status: 1000)
        _ = wait(until: monotonicTime() + .seconds(60)) { !hasClients }
    }

    /// Stops the server, and closes remaining connections with status 1001.
    func stop() {
        notify?.send("STOPPING=1")
        server.stop()
        thread.join()
    }

    /// Feeds the systemd watchdog while it waits. Evaluates `isReached` again after each `Signals.wake()`.
    func wait(until deadline: Duration?, orUntil isReached: () -> Bool = { false }) -> Bool {
        while true {
            let rest = deadline.map { max($0 - monotonicTime(), .zero) }
            let isOver = rest == .zero || isReached()
            let nap = [rest, notify?.feedWatchdog()].compactMap(\.self).min()
            // Checks for a signal even if the wait is already over. A wake returns `nil`.
            if signals.wait(for: isOver ? .zero : nap) != nil { return false }
            if isOver { return true }
        }
    }
}
