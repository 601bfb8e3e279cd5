/// Limits beyond which a client is rejected or disconnected.
enum HTTPLimits {
    /// Open connections; one more is closed at once, or takes the place of an idle one: see `ConnectionTable`.
    static let connections = 512
    /// Connections of one IPv4 address, one IPv6 /64, or all Unix sockets together.
    static let connectionsPerClient = 128

    /// From the connection to the end of its first request's header, and from a later request's first line to its end.
    /// This time does not begin again with each byte, as libmicrohttpd's own time-out does.
    static let requestTime = Duration.seconds(10)
    /// From a response to the first line of the next request on the same connection.
    static let idleTime = Duration.seconds(60)
    /// To take what a stream of events has sent, beyond what fits the system's buffers.
    static let streamTime = Duration.seconds(15)

    /// The time in which a response of so many bytes must be sent: 64 KiB a second, and ten seconds.
    static func timeToSend(_ bytes: Int) -> Duration { .seconds(10) + .seconds(bytes) / (64 * 1024) }

    /// Bytes of path and query; more get 414.
    static let targetBytes = 8 * 1024
    /// Bytes of request line and fields; more get 431. See `connectionMemory`.
    static let headerBytes = 16 * 1024
    /// Fields of a header; more get 431.
    static let fields = 100
}
