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
    private let timeToStop: Duration

    /// Listens and serves at once.
    ///
    /// - Throws: a `SystemError` that names the address which cannot be bound.
    public init(configuration: HTTPServerConfiguration) throws(SystemError) {
        timeToStop = configuration.limits.timeToStop
        let sockets = try Self.listen(configuration)
        addresses = sockets.map(\.address)
        service = try HTTPService(configuration: configuration)
        running = Mutex(
            try Running(
                sockets, service, usesTLS: configuration.web.tls != nil,
                sweepInterval: configuration.limits.sweepInterval))
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
    /// - Throws: when TLS would be turned on or off, or GnuTLS does not take it. The configuration before stays in
    ///   force.
    public func reload(_ web: WebConfiguration) throws(SystemError) { try service.adopt(web) }

    /// Stops listening, lets the responses under way end, and closes what is left after `limit`. Blocks; any thread but
    /// that of a route. Only the first call does anything.
    ///
    /// - Returns: false when a connection's thread does not end, and has been left behind.
    @discardableResult
    public func stop(within limit: Duration) -> Bool {
        guard let running = running.withLock({ $0.take() }) else { return true }
        let hasEnded = Monitor(false)
        let thread = try? ServiceThread(name: "http-stop") { [service] in
            running.end(service, within: limit)
            hasEnded.change { $0 = true }
        }
        guard thread != nil else {
            running.end(service, within: limit)
            return true
        }
        return hasEnded.wait(until: monotonicTime() + limit + timeToStop) { $0 ? true : nil } ?? false
    }

    deinit { stop(within: .zero) }
}

/// The parts of a server that `stop` ends.
private final class Running: Sendable {
    /// The listening sockets, which keep the files of Unix sockets.
    private let sockets: Mutex<[ListeningSocket]>
    private let daemons: Mutex<[DaemonOwner]>
    private let sweeper: ServiceThread
    private let isSweepStopped: Monitor<Bool>

    /// A daemon in an array, which takes only what can be copied.
    private final class DaemonOwner: Sendable {
        let daemon: HTTPDaemon

        init(_ daemon: consuming HTTPDaemon) { self.daemon = daemon }
    }

    init(
        _ sockets: [ListeningSocket], _ service: HTTPService, usesTLS: Bool, sweepInterval: Duration
    ) throws(SystemError) {
        var daemons: [DaemonOwner] = []
        for socket in sockets {
            daemons.append(DaemonOwner(try HTTPDaemon(on: socket, service: service, usesTLS: usesTLS)))
        }
        self.sockets = Mutex(sockets)
        self.daemons = Mutex(daemons)
        let isSweepStopped = Monitor(false)
        self.isSweepStopped = isSweepStopped
        sweeper = try ServiceThread(name: "http-sweep") {
            while isSweepStopped.wait(until: monotonicTime() + sweepInterval, { $0 ? true : nil }) == nil {
                service.connections.sweep(at: monotonicTime())
            }
        }
    }

    func end(_ service: HTTPService, within limit: Duration) {
        daemons.withLock { daemons in
            for owner in daemons { owner.daemon.stopListening() }
        }
        sockets.withLock { $0 = [] }
        service.drain(within: limit)
        daemons.withLock { $0 = [] }
        isSweepStopped.change { $0 = true }
        sweeper.join()
    }
}
