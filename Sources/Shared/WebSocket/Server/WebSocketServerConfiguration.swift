public import HTTPText
public import System

/// Settings of a `WebSocketServer`. The closures are called on the thread of `run`.
public struct WebSocketServerConfiguration: Sendable {
    /// Must be a TCP address.
    public var address: ListenAddress
    /// A client is disconnected if more bytes than this would be queued for it, except for a single large message.
    var maximumQueuedBytes = 64 << 20
    /// Additional header fields for the handshake response, validated and none of them reserved.
    public var headers: [HTTPField] = []
    /// Returns the text messages that a new client receives first. If a change is applied before it is broadcast, no
    /// client misses it, though one may receive it twice. Broadcasts from other threads wait for this closure.
    public var greeting: @Sendable () -> [[UInt8]] = { [] }
    /// Called with the number of clients whenever it changes.
    public var onClientCount: @Sendable (Int) -> Void = { _ in }

    public init(address: ListenAddress) { self.address = address }
}
