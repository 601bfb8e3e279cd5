/// Limits beyond which a client is rejected or disconnected.
enum HTTPLimits {
    /// Open connections; one more is closed at once, or replaces an idle one: see `ConnectionTable`.
    static let connections = 512
    /// Connections of one IPv4 address, one IPv6 /64, or all Unix sockets together.
    static let connectionsPerClient = 128
    /// Connections of a client that are served as fast as possible. Others pause after each request: the kernel shares
    /// out CPU time per thread, so otherwise a client with many busy connections would get most of it.
    static let unpacedConnectionsPerClient = 16
    static let pause = Duration.milliseconds(20)

    /// Time for a request to arrive, from the start of the connection for the first, from the request line for others.
    /// Unlike the time-out of libmicrohttpd, it does not start again with each byte.
    static let requestTime = Duration.seconds(10)
    /// Time from a response to the next request line on the same connection.
    static let idleTime = Duration.seconds(60)
    /// Time for a client to read the events of a stream, beyond what fits in the system's buffers.
    static let streamTime = Duration.seconds(15)

    /// Time limit for sending a response: ten seconds, plus one for each 64 KiB.
    static func timeToSend(_ bytes: Int) -> Duration { .seconds(10) + .seconds(bytes) / (64 * 1024) }

    /// Bytes of path and query; more get 414.
    static let targetBytes = 8 * 1024
    /// Bytes of request line and fields; more get 431. See `LibMicroHTTPD.connectionMemory`.
    static let headerBytes = 16 * 1024
    /// Fields of a header; more get 431.
    static let fields = 100
}
