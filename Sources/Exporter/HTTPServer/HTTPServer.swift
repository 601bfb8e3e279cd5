public import System
public import WebConfiguration

/// Serves HTTP/1.1 with libmicrohttpd, each connection on a thread of its own. HTTP/2 is not possible with it.
public final class HTTPServer: Sendable {
    /// The bound addresses, with real ports, in the order in which they were given.
    public let addresses: [ListenAddress]
    let service: HTTPService
    /// The listening sockets, which keep the files of Unix sockets; none once the server stops.
    private let sockets: Monitor<[ListeningSocket]>
    /// One for each socket: libmicrohttpd listens on one.
    private let daemons: [HTTPDaemon]
    private let sweeper: ServiceThread

    /// Listens and serves at once; the error names the address that cannot be bound.
    public init(configuration: HTTPServerConfiguration) throws(SystemError) {
        let listening =
            try configuration.usesSystemdSockets
            ? ListeningSocket.inherited()
            : configuration.addresses.map { (address) throws(SystemError) in try ListeningSocket.open(address) }
        addresses = listening.map(\.address)
        sockets = Monitor(listening)
        service = HTTPService(configuration: configuration)
        daemons = try listening.map { [service] (socket) throws(SystemError) in
            try HTTPDaemon(on: socket, service: service, usesTLS: configuration.web.tls != nil)
        }
        sweeper = try ServiceThread(name: "http-sweep") { [service, sockets] in
            while sockets.wait(until: monotonicTime() + .seconds(1), { $0.isEmpty ? true : nil }) == nil {
                service.connections.sweep(at: monotonicTime())
            }
        }
    }

    /// Puts another web configuration in force, for connections (TLS) and requests (the rest) that begin from now on;
    /// any thread, one at a time. Nothing is disconnected.
    ///
    /// - Throws: when TLS would be turned on or off; nothing changes.
    public func reload(_ web: WebConfiguration) throws(SystemError) { try service.adopt(web) }

    /// Stops listening, lets the responses under way end, and closes what is left after `limit`. Blocks; any thread but
    /// that of a route. Only the first call does anything.
    ///
    /// - Returns: false when a connection's thread has not ended a second later, and has been left behind.
    @discardableResult
    public func stop(within limit: Duration) -> Bool {
        guard !sockets.read(\.isEmpty) else { return true }
        for daemon in daemons { daemon.stopListening() }
        sockets.change { $0 = [] }
        let hasEnded = service.connections.end(within: limit)
        sweeper.join()
        // A daemon's end waits for its threads: with one that is stuck, it must not end.
        for daemon in daemons where !hasEnded { daemon.leaveBehind() }
        return hasEnded
    }

    deinit { stop(within: .zero) }
}
