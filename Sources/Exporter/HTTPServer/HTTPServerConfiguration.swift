public import System
public import WebConfiguration

/// The addresses, the routes and the limits of an `HTTPServer`.
public struct HTTPServerConfiguration: Sendable {
    public var addresses: [ListenAddress]
    /// Serves on the sockets that systemd has opened for this process instead of on `addresses`.
    public var usesSystemdSockets = false
    public var limits = HTTPLimits()
    /// The first route that has a path responds to it.
    public var routes: [Route]
    /// The line of a 404.
    public var notFound = "not found"
    /// TLS, passwords, headers of each response and the rate limit.
    public var web = WebConfiguration()
    /// Called, on any thread, for each TLS handshake that fails after the client has said something.
    public var onTLSHandshakeFailure: @Sendable (_ failure: TLSHandshakeFailure) -> Void = { _ in }

    public init(addresses: [ListenAddress], routes: [Route]) {
        self.addresses = addresses
        self.routes = routes
    }
}

/// Limits beyond which a client is rejected or disconnected.
public struct HTTPLimits: Sendable {
    /// Open connections; one more is closed at once, or takes the place of an idle one: see `ConnectionTable`.
    public var maximumConnections = 512
    /// Connections of one IPv4 address, one IPv6 /64, or all Unix sockets together.
    public var maximumConnectionsPerClient = 128

    /// From the connection to the end of its first request's header, and from a later request's first line to its end.
    /// This time does not begin again with each byte, as libmicrohttpd's own time-out does.
    public var requestTimeout = Duration.seconds(10)
    /// From a response to the first line of the next request on the same connection.
    public var idleTimeout = Duration.seconds(60)
    /// To send a response, beside what `minimumRate` allows for its size.
    public var responseTimeout = Duration.seconds(10)
    /// To take what a stream of events has sent, beyond what fits the system's buffers.
    public var streamTimeout = Duration.seconds(15)
    /// Bytes a second that a client has to take, at least 1.
    public var minimumRate = 64 * 1024

    /// The time that connections may take to end after a stop.
    var timeToStop = Duration.seconds(1)

    /// Bytes of path and query; more get 414.
    public static let maximumTargetBytes = 8 * 1024
    /// Bytes of request line and fields; more get 431. See `connectionMemory`.
    public static let maximumHeaderBytes = 16 * 1024
    /// Fields of a header; more get 431.
    public static let maximumFields = 100

    public init() {}

    /// The time in which a response of so many bytes must be sent.
    func timeToSend(_ bytes: Int) -> Duration { responseTimeout + .seconds(bytes) / minimumRate }

    /// Between two looks for what is overdue.
    var sweepInterval: Duration {
        let shortest = min(requestTimeout, idleTimeout, responseTimeout, streamTimeout)
        return min(max(shortest / 4, .milliseconds(20)), .seconds(1))
    }
}
