public import System

/// Serves HTTP/1.1 with libmicrohttpd, which does not support HTTP/2; each connection has its own thread.
public final class HTTPServer: Sendable {
    /// The bound addresses with their actual ports, in the given order.
    public let addresses: [ListenAddress]
    let service: HTTPService
    /// The listening sockets, which own the files of Unix sockets; empty once the server stops.
    private let sockets: Monitor<[ListeningSocket]>
    /// One per socket, because libmicrohttpd listens on only one.
    private let daemons: [HTTPDaemon]
    private let sweeper: ServiceThread

    /// Starts listening and serving; the error names the address that cannot be bound.
    public init(configuration: HTTPServerConfiguration) throws(SystemError) {
        let listening =
            try configuration.usesSystemdSockets
            ? ListeningSocket.inherited() : configuration.addresses.map(ListeningSocket.open)
        addresses = listening.map(\.address)
        sockets = Monitor(listening)
        service = HTTPService(configuration: configuration)
        daemons = try listening.map { [service] (socket) throws(SystemError) in
            try HTTPDaemon(on: socket, service: service, usesTLS: configuration.access.tls != nil)
        }
        sweeper = try ServiceThread(name: "http-sweep") { [service, sockets] in
            while sockets.wait(until: monotonicTime() + .seconds(1), { $0.isEmpty ? true : nil }) == nil {
                service.connections.sweep(at: monotonicTime())
            }
        }
    }

    /// Applies the access to new connections (TLS) and new requests (the rest), without disconnecting anyone. Throws,
    /// and changes nothing, if TLS would be turned on or off. Any thread, but one call at a time.
    public func adopt(_ access: HTTPAccess) throws(SystemError) { try service.adopt(access) }

    /// Stops listening, lets responses in progress finish, and closes what is left after `limit`. Blocks, and must
    /// not be called on the thread of a route. Only the first call has an effect.
    ///
    /// - Returns: `false` if a connection's thread has not ended a second later, and is left behind.
    @discardableResult
    public func stop(within limit: Duration) -> Bool {
        guard !sockets.read(\.isEmpty) else { return true }
        for daemon in daemons { daemon.stopListening() }
        sockets.change { $0 = [] }
        let hasEnded = service.connections.end(within: limit)
        sweeper.join()
        // Ending a daemon waits for its threads, so one with a stuck thread must not be ended.
        for daemon in daemons where !hasEnded { daemon.leaveBehind() }
        return hasEnded
    }

    deinit { stop(within: .zero) }
}
