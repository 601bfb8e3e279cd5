internal import Synchronization
public import System
public import WebConfiguration

/// Serves HTTP/1.1 with libmicrohttpd, each connection on a thread of its own. HTTP/2 is not possible with it.
///
///     let configuration = HTTPServerConfiguration(
///         addresses: [try ListenAddress("127.0.0.1:8080")],
///         routes: [Route("/") { request in HTTPResponse(status: 200, line: "hello \(request.query)") }])
///     let server = try HTTPServer(configuration: configuration)
///     server.stop(within: .seconds(5))
public final class HTTPServer: Sendable {
    /// The bound addresses, with real ports, in the order in which they were given.
    public let addresses: [ListenAddress]
    let service: HTTPService
    private let running: Mutex<Running?>

    /// The parts of a server that `stop` ends.
    private struct Running {
        /// The listening sockets, which keep the files of Unix sockets.
        var sockets: [ListeningSocket]
        /// One for each socket: libmicrohttpd listens on one.
        let daemons: [HTTPDaemon]
        let sweeper: ServiceThread
    }

    private let isStopped = Monitor(false)

    /// Listens and serves at once.
    ///
    /// - Throws: a `SystemError` that names the address which cannot be bound.
    public init(configuration: HTTPServerConfiguration) throws(SystemError) {
        let sockets = try Self.listen(configuration)
        addresses = sockets.map(\.address)
        let service = try HTTPService(configuration: configuration)
        self.service = service
        var daemons: [HTTPDaemon] = []
        for socket in sockets {
            daemons.append(try HTTPDaemon(on: socket, service: service, usesTLS: configuration.web.tls != nil))
        }
        let sweeper = try ServiceThread(name: "http-sweep") { [isStopped] in
            // No deadline of a connection that begins meanwhile is nearer than the longer pause.
            var pause = Duration.seconds(5)
            while isStopped.wait(until: monotonicTime() + pause, { $0 ? true : nil }) == nil {
                pause = service.connections.sweep(at: monotonicTime()) ? .seconds(1) : .seconds(5)
            }
        }
        running = Mutex(Running(sockets: sockets, daemons: daemons, sweeper: sweeper))
    }

    private static func listen(_ configuration: HTTPServerConfiguration) throws(SystemError) -> [ListeningSocket] {
        if configuration.usesSystemdSockets { return try ListeningSocket.inherited() }
        var sockets: [ListeningSocket] = []
        for address in configuration.addresses { sockets.append(try ListeningSocket.open(address)) }
        return sockets
    }

    /// Puts another web configuration in force, for connections (TLS) and requests (the rest) that begin from now on;
    /// any thread, one at a time. Nothing is disconnected.
    ///
    /// - Throws: when TLS would be turned on or off, or GnuTLS does not take it; nothing changes.
    public func reload(_ web: WebConfiguration) throws(SystemError) { try service.adopt(web) }

    /// Stops listening, lets the responses under way end, and closes what is left after `limit`. Blocks; any thread but
    /// that of a route. Only the first call does anything.
    ///
    /// - Returns: false when a connection's thread has not ended a second later, and has been left behind.
    @discardableResult
    public func stop(within limit: Duration) -> Bool {
        guard var running = running.withLock({ $0.take() }) else { return true }
        for daemon in running.daemons { daemon.stopListening() }
        running.sockets = []
        let hasEnded = service.connections.end(within: limit)
        isStopped.change { $0 = true }
        running.sweeper.join()
        // A daemon's end waits for its threads: with one that is stuck, it must not end.
        for daemon in running.daemons where !hasEnded { daemon.leaveBehind() }
        return hasEnded
    }

    deinit { stop(within: .zero) }
}
