public import System

/// What a `WebSocketClient` is told once, at its start.
public struct WebSocketClientConfiguration: Sendable {
    public var address: WebSocketAddress
    /// More header fields for the handshake, none of them reserved; asked for at each attempt. A failure fails the
    /// attempt, with reason `handshake`.
    public var headers: @Sendable () -> Result<[HTTPField], SystemError> = { .success([]) }
    /// Offered in the handshake, the best first; an answer with another one fails the attempt, with reason `handshake`.
    public var subprotocols: [String] = []
    /// Text messages that are sent after each connect, in order.
    public var subscriptions: [String] = []
    public var tls = WebSocketTLS()
    /// From the beginning of an attempt, looking up the name, to the finished handshake; zero = no limit.
    public var connectTimeout: Duration = .seconds(10)
    /// A ping is sent when no byte has arrived for that long; zero = never.
    public var pingInterval: Duration = .seconds(15)
    /// The connection is given up when nothing arrives for that long after a ping; zero = never.
    public var pongTimeout: Duration = .seconds(10)
    /// The connection is given up when no whole message has arrived for that long; zero = never.
    public var idleTimeout: Duration = .seconds(60)
    /// The first bound of the time between two attempts; see `ReconnectPolicy`.
    public var reconnectMinimum: Duration = .milliseconds(500)
    /// The last bound of the time between two attempts.
    public var reconnectMaximum: Duration = .seconds(30)
    /// Longer messages are dropped and reported as `tooLarge`; a compressed message counts with its inflated length.
    public var maximumMessageBytes = 16 << 20

    public init(address: WebSocketAddress) {
        self.address = address
    }
}
