internal import Synchronization
public import System
public import WebConfiguration

/// Serves HTTP/1.1 with libmicrohttpd. HTTP/2 is not possible with it.
///
/// One thread accepts, one serves. The route closure runs on the latter, or on the queue that `HTTPHandling` names.
public final class HTTPServer: Sendable {
    /// The bound addresses, with real ports, in the order in which they were given.
    public let addresses: [ListenAddress]
    let service: HTTPService
    private let running: Mutex<Running?>
    private let timeToStop: Duration

    /// The parts that `stop` ends: in this order the thread that accepts, then the daemon.
    private final class Running: Sendable {
        let acceptor: HTTPAcceptor
        let thread: ServiceThread
        let daemon: Mutex<HTTPDaemon?>
        let ended: WakePipe

        init(_ daemon: consuming HTTPDaemon, _ acceptor: HTTPAcceptor) throws(SystemError) {
            self.acceptor = acceptor
            ended = try WakePipe()
            thread = try ServiceThread(name: "http-accept", body: acceptor.run)
            self.daemon = Mutex(daemon)
        }

        func end(_ service: HTTPService, within limit: Duration) {
            acceptor.stop()
            thread.join()
            service.drain(within: limit)
            service.endSuspensions()
            daemon.withLock { $0 = nil }
            ended.wake()
        }
    }

    /// Listens and serves at once.
    /// - Parameter onRequest: responds to a request, HEAD like GET; which methods a path allows is its business.
    /// - Throws: a `SystemError` that names the address which cannot be bound.
    public init(
        configuration: HTTPServerConfiguration,
        onRequest: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) throws(SystemError) {
        timeToStop = configuration.limits.timeToStop
        let sockets = try Self.listen(configuration)
        addresses = sockets.map(\.address)
        service = try HTTPService(configuration: configuration, onRequest: onRequest)
        let daemon = try HTTPDaemon(service: service, usesTLS: configuration.web.tls != nil)
        let acceptor = try HTTPAcceptor(
            sockets: sockets, intake: daemon.intake, service: service, limits: configuration.limits)
        running = Mutex(try Running(daemon, acceptor))
    }

    private static func listen(_ configuration: HTTPServerConfiguration) throws(SystemError) -> [ListeningSocket] {
        if configuration.usesSystemdSockets { return try ListeningSocket.inherited() }
        var sockets: [ListeningSocket] = []
        for address in configuration.addresses { sockets.append(try ListeningSocket.open(address)) }
        return sockets
    }

    /// The counts of the metered requests and of failed handshakes; any thread.
    public var statistics: HTTPStatistics { service.meter.current }

    /// Puts another web configuration in force, for connections (TLS) and requests (the rest) that begin from now on; any
    /// thread, one at a time. Nothing is disconnected.
    /// - Throws: when TLS would be turned on or off, or GnuTLS does not take it. The configuration before stays in force.
    public func reload(_ web: WebConfiguration) throws(SystemError) { try service.adopt(web) }

    /// Grows every few seconds while the serving thread is alive; for a `HeartbeatWatch`.
    public var heartbeats: Int { service.heartbeat.beats }

    /// Stops listening, lets the responses under way end, and closes what is left after `limit`. Blocks; any thread but
    /// that of the route closure. Only the first call does anything.
    ///
    /// - Returns: false when the serving thread is stuck, and has been left behind.
    @discardableResult
    public func stop(within limit: Duration) -> Bool {
        guard let running = running.withLock({ $0.take() }) else { return true }
        guard (try? ServiceThread(name: "http-stop") { [service] in running.end(service, within: limit) }) != nil else {
            running.end(service, within: limit)
            return true
        }
        return running.ended.wait(limit + timeToStop)
    }

    deinit { stop(within: .zero) }
}

/// The addresses of an `HTTPServer`, and the limits for its clients.
public struct HTTPServerConfiguration: Sendable {
    public var addresses: [ListenAddress]
    /// Serves on the sockets that systemd has opened for this process instead of on `addresses`.
    public var usesSystemdSockets = false
    public var limits = HTTPLimits()

    /// Decides how a request is handled; asked on the serving thread.
    public var handling: @Sendable (HTTPRequest) -> HTTPHandling = { _ in HTTPHandling() }
    /// One server's. The route closure may ask it for its counts.
    public var meter = HTTPMeter()

    /// TLS, passwords, headers of each response and the rate limit.
    public var web = WebConfiguration()
    /// Called on the serving thread for each TLS handshake that fails after the client has said something; `meter`
    /// counts them.
    public var onTLSHandshakeFailure: @Sendable (_ failure: TLSHandshakeFailure) -> Void = { _ in }
    /// Paths that never need a password.
    public var isPublic: @Sendable (_ path: String) -> Bool = { _ in false }

    /// Makes the response to a request that the server refuses itself. The path is nil when it cannot be read.
    public var refuse: @Sendable (_ refusal: HTTPRefusal, _ path: String?) -> HTTPResponse = { refusal, _ in
        HTTPResponse(status: refusal.status, headers: refusal.headers, line: refusal.line)
    }

    public init(addresses: [ListenAddress]) { self.addresses = addresses }
}

/// Limits beyond which a client is refused or disconnected.
public struct HTTPLimits: Sendable {
    /// Open connections; one more is closed at once, or another one for it: see `ConnectionQuota`. The process's limit of
    /// open files is raised for them; where that is not allowed there are fewer.
    public var maximumConnections = 4096
    /// Connections of one client (`IPAddress.client`): each may have a request in a turn of the serving thread. 0 = no limit.
    public var maximumConnectionsPerAddress = 1024

    /// From the connection to the end of its first request's header, and from a request's first line to its end.
    /// It does not begin again with each byte, as libmicrohttpd's own time-out does.
    public var requestTimeout = Duration.seconds(10)
    /// From a response to the end of the next request's header on the same connection.
    public var idleTimeout = Duration.seconds(180)
    /// To send a response, beside what `minimumRate` allows for its size.
    public var responseTimeout = Duration.seconds(60)
    /// To take what a stream has sent, beyond what fits the system's buffers.
    public var streamTimeout = Duration.seconds(15)
    /// Bytes a second that a client has to take.
    public var minimumRate = 64 * 1024

    /// The time that the daemon may take to stop.
    var timeToStop = Duration.seconds(10)
    /// Between two beats of the serving thread.
    var heartbeatInterval = Duration.seconds(5)

    /// Bytes of path and query; more get 414.
    public var maximumTargetBytes = 8 * 1024
    /// Bytes of request line and fields; more get 431. See `connectionMemory`.
    public static let maximumHeaderBytes = 16 * 1024
    /// More fields get 431.
    public static let maximumFields = 100

    public init() {}
}
