public import HTTPText

/// Settings of a `WebSocketClient`.
public struct WebSocketClientConfiguration: Sendable {
    public var address: WebSocketAddress
    /// Header fields of the handshake, each valid and none reserved. Asked for at each connect, on the thread of
    /// `WebSocketClient.run`.
    public var headerFields: @Sendable () throws -> [HTTPField] = { [] }
    /// Subprotocols to offer, each once, the preferred one first.
    public var subprotocols: [String] = []
    /// Text messages that are sent after every connect.
    public var subscriptions: [String] = []
    /// Time between two repetitions of the subscriptions; zero sends them once.
    public var subscriptionInterval = Duration.zero
    public var tls = WebSocketTLS()
    /// Time from the dial to the finished handshake.
    public var connectTimeout = Duration.seconds(10)
    /// Time without a byte before a ping; zero disables pings.
    public var pingInterval = Duration.seconds(15)
    /// Time after a ping within which a byte has to arrive.
    public var pongTimeout = Duration.seconds(10)
    /// Time without a whole message before the connection is given up; zero disables it.
    public var idleTimeout = Duration.seconds(300)
    /// Name of the idle time-out in the text about a connection that it ended.
    public var idleTimeoutName = "the idle time-out"
    public var reconnectMinimum = Duration.milliseconds(500)
    public var reconnectMaximum = Duration.seconds(30)
    /// Longer messages are not kept.
    public var maximumMessageBytes = 4 << 20

    public init(address: WebSocketAddress = WebSocketAddress()) { self.address = address }
}
