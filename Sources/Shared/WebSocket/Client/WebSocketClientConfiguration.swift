public import HTTPText

public struct WebSocketClientConfiguration: Sendable {
    public var address: WebSocketAddress
    /// Returns valid, unreserved fields to add to the handshake; called for each dial, on the thread of `run`.
    public var headerFields: @Sendable () throws -> [HTTPField] = { [] }
    /// Sent in the handshake, unless a field of this name is added.
    public var userAgent = "air-quality-exporter"
    /// Subprotocols to offer, without duplicates, in order of preference.
    public var subprotocols: [String] = []
    /// Text messages to send after every connect.
    public var subscriptions: [String] = []
    /// Returns further text messages to send after them; called on the thread of `run`.
    public var greeting: @Sendable () -> [[UInt8]] = { [] }
    /// Called on the thread of `run` with each text message that is sent.
    public var onSend: @Sendable (_ text: [UInt8]) -> Void = { _ in }
    /// Interval at which the subscriptions are repeated; zero sends them once.
    public var subscriptionInterval = Duration.zero
    public var tls = WebSocketTLS()
    /// Time limit for an attempt, from the name lookup to the completed handshake.
    public var connectTimeout = Duration.seconds(10)
    /// A ping is sent when nothing has been sent, or not a byte received, for this long; zero disables pings.
    public var pingInterval = Duration.seconds(15)
    /// Time within which a byte must arrive after a ping.
    public var pongTimeout = Duration.seconds(10)
    /// Time without a complete message after which the client reconnects; zero disables it.
    public var idleTimeout = Duration.seconds(300)
    /// Beginning of the names of flags in the details of disconnects.
    public var flagPrefix = "--feed."
    public var reconnectMinimum = Duration.milliseconds(500)
    public var reconnectMaximum = Duration.seconds(30)
    /// Longer messages are reported without their content.
    public var maximumMessageBytes = 4 << 20

    public init(address: WebSocketAddress = WebSocketAddress()) { self.address = address }
}
