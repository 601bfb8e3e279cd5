public import HTTPText
public import System

/// Settings of a `WebSocketServer`. Its closures are called on the thread of `run`.
public struct WebSocketServerConfiguration: Sendable {
    /// One of TCP.
    public var address: ListenAddress
    /// A client for which more bytes than this would wait is disconnected, unless it waits for a single message.
    var maximumQueuedBytes = 64 << 20
    /// Additional header fields of the handshake's response, each valid and none reserved.
    public var headers: [HTTPField] = []
    /// Returns the text messages that a new client gets before any others. If a change is made before it is broadcast,
    /// no client misses the change, though one may get it twice. Broadcasts of other threads wait for it.
    public var greeting: @Sendable () -> [[UInt8]] = { [] }
    /// Called when a client has come or gone, with the number of clients.
    public var onClientCount: @Sendable (Int) -> Void = { _ in }

    public init(address: ListenAddress) { self.address = address }
}
