import CommandLine
import System
import WebSocket

extension ParsedFlags {
    /// Starts a server on the address of a flag, which an error about the address names.
    func listening<Server>(_ flag: String, start: () throws -> Server) throws -> Server {
        do {
            return try start()
        } catch let error as SystemError where error.code == .address {
            throw rejection(of: flag, expected: "a free address: \(error.reason)")
        }
    }
}

/// A feed's server, and the waits of the main thread, which sends the messages: for clients, for a time. Each wait ends
/// early with false when a signal ends the program.
struct FeedServer {
    private let server: WebSocketServer
    private let thread: ServiceThread
    private let signals: Signals
    private let notify = NotifySocket()

    /// Listens, and prints the address on standard output, where somebody reads it within a second.
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

    /// Sends a message to all clients. A client that is too far behind does not get it.
    func send(_ message: [UInt8]) { server.broadcast(message) }

    func awaitClient() -> Bool { wait(until: nil) { hasClients } }

    /// Closes all connections (status 1000) and gives clients a minute to take the rest and answer the close frame.
    func finish() {
        server.close(status: 1000)
        _ = wait(until: monotonicTime() + .seconds(60)) { !hasClients }
    }

    /// Ends the server; remaining connections are closed with status 1001.
    func stop() {
        notify?.send("STOPPING=1")
        server.stop()
        thread.join()
    }

    /// Tells systemd meanwhile that the main thread works. Asks `isReached` again after each wake of the signals.
    func wait(until deadline: Duration?, orUntil isReached: () -> Bool = { false }) -> Bool {
        while true {
            let rest = deadline.map { max($0 - monotonicTime(), .zero) }
            let isOver = rest == .zero || isReached()
            let nap = [rest, notify?.feedWatchdog()].compactMap(\.self).min()
            // Looked at even when there is nothing to wait for. A wake says only that something is new.
            if signals.wait(for: isOver ? .zero : nap) != nil { return false }
            if isOver { return true }
        }
    }
}
