/// The limits beyond which a client waits, is rejected or is disconnected. `SECURITY.md` has the same table.
///
/// A client is one IPv4 address, one IPv6 /64, or all Unix sockets together: see `IPAddress.client`.
public enum HTTPLimits {
    // MARK: - Connections

    /// Open connections; one more is closed at once, or replaces an idle one: see `ConnectionTable`.
    static let connections = 512
    static let connectionsPerClient = 128
    /// Connections of a client that are served as fast as possible. Others pause after each request: the kernel shares
    /// out CPU time per thread, so otherwise a client with many busy connections would get most of it.
    static let unpacedConnectionsPerClient = 16
    static let pause = Duration.milliseconds(20)
    /// Bytes of a TLS handshake message; a chain of client certificates is the longest.
    static let handshakeMessageBytes = 32 * 1024

    // MARK: - Time

    /// Time for a request to arrive, from the start of the connection for the first, from the request line for others.
    /// Unlike the time-out of libmicrohttpd, it does not start again with each byte.
    static let requestTime = Duration.seconds(10)
    /// Time from a response to the next request line on the same connection.
    static let idleTime = Duration.seconds(60)
    /// Time for a client to read the events of a stream, beyond what fits in the system's buffers.
    static let streamTime = Duration.seconds(15)

    /// Time limit for sending a response: ten seconds, plus one for each 64 KiB.
    static func timeToSend(_ bytes: Int) -> Duration { .seconds(10) + .seconds(bytes) / (64 * 1024) }

    // MARK: - Bytes

    /// Bytes of path and query; more get 414.
    static let targetBytes = 8 * 1024
    /// Bytes of request line and fields; more get 431. See `LibMicroHTTPD.connectionMemory`.
    static let headerBytes = 16 * 1024
    /// Fields of a header; more get 431.
    static let fields = 100
    /// Content of larger responses that waits to be sent; more ends the slowest reader of another client, or gets 503.
    static let unsentBytes = 64 << 20
    static let unsentBytesPerClient = 16 << 20
    /// How long a response waits for room among those.
    static let unsentPatience = Duration.milliseconds(100)
    /// Bytes a second that a reader takes, after a grace, to keep its permit when another client needs it.
    static let readingPace = 64 << 20
    static let readingGrace = Duration.milliseconds(50)
    /// Half of what the kernel buffers for a client that does not read.
    static let sendBuffer = 128 * 1024

    // MARK: - Requests at once

    /// Scrapes of one client, of those that `--web.max-requests` allows in all.
    public static func scrapesPerClient(of total: Int) -> Int { max(1, total / 4) }
    /// Pages, histories and files, including those with slow readers.
    public static let documents = 64
    public static let documentsPerClient = 16
    /// Listeners of events.
    public static let listeners = 256
    public static let listenersPerClient = 64
    /// How long a scrape or a document beyond these limits waits for its turn.
    public static let patience = Duration.milliseconds(500)

    /// Documents of a kind that are generated at once.
    public static let renderings = 2
    /// How long a document waits for being generated.
    public static let renderingPatience = Duration.seconds(10)
    /// Points of a history: 26 MB of JSON.
    public static let historyPoints = 200_000

    // MARK: - Passwords

    /// Password checks that run at once, one of each client.
    static let passwordChecks = 2
    /// How long a password waits for others of its client.
    static let passwordPatience = Duration.seconds(3)
    /// Verdicts remembered of each kind, so that wrong guesses cannot evict right passwords.
    static let rememberedPasswords = 100
}
