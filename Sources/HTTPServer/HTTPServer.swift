internal import Synchronization
public import System
public import WebConfiguration

/// Serves HTTP/1.1 with libmicrohttpd. HTTP/2 is not possible with it.
///
/// One thread accepts, one serves; the route closure runs on the latter, so it must not block.
public final class HTTPServer: Sendable {
    /// The bound addresses, with real ports, in the order in which they were given.
    public let addresses: [ListenAddress]
    private let service: HTTPService
    private let running: Mutex<Running?>

    /// What `stop` ends: in this order the thread that accepts, then the daemon.
    private struct Running: ~Copyable {
        let acceptor: HTTPAcceptor
        let thread: ServiceThread
        let daemon: HTTPDaemon
    }

    /// Listens and serves at once.
    /// - Parameter onRequest: answers a request, HEAD like GET; which methods a path allows is its business.
    /// - Throws: a `SystemError` that names the address which cannot be bound.
    public init(
        configuration: HTTPServerConfiguration,
        onRequest: @escaping @Sendable (borrowing HTTPRequest) -> HTTPResponse
    ) throws(SystemError) {
        let sockets = try Self.listen(configuration)
        addresses = sockets.map(\.address)
        service = try HTTPService(configuration: configuration, onRequest: onRequest)
        let daemon = try HTTPDaemon(
            service: service, limits: configuration.limits, usesTLS: configuration.web.tls != nil)
        let acceptor = try HTTPAcceptor(
            sockets: sockets, intake: daemon.intake, connections: service.connections, limits: configuration.limits)
        let thread = try ServiceThread(name: "http-accept", body: acceptor.run)
        running = Mutex(Running(acceptor: acceptor, thread: thread, daemon: daemon))
    }

    private static func listen(_ configuration: HTTPServerConfiguration) throws(SystemError) -> [ListeningSocket] {
        if configuration.usesSystemdSockets { return try ListeningSocket.inherited() }
        var sockets: [ListeningSocket] = []
        for address in configuration.addresses { sockets.append(try ListeningSocket.open(address)) }
        return sockets
    }

    /// The counts of the metered requests; any thread.
    public var statistics: HTTPStatistics { service.meter.current }

    /// Puts another web configuration in force, for connections (TLS) and requests (the rest) that begin from now on; any
    /// thread, one at a time. Nothing is disconnected.
    /// - Throws: when TLS would be turned on or off, or GnuTLS does not take it. The configuration before stays in force.
    public func reload(_ web: WebConfiguration) throws(SystemError) {
        try service.adopt(web)
    }

    /// Stops listening, lets the answers under way end, and closes what is left after `limit`. Blocks; any thread but
    /// that of the route closure. Only the first call does anything.
    public func stop(within limit: Duration) {
        guard let running = running.withLock({ $0.take() }) else { return }
        running.acceptor.stop()
        running.thread.join()
        service.drain(within: limit)
        service.stopCheckingPasswords()
    }

    deinit {
        stop(within: .zero)
    }
}
