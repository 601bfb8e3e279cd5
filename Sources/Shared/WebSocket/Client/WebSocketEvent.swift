public import FeedProtocol
public import HTTPText

/// Events of a client's connection, in order, on the thread of `WebSocketClient.run`.
public enum WebSocketEvent: Sendable, Equatable {
    /// An attempt begins. A `connected`, a `disconnected` or both follow before the next one.
    case connecting
    /// With the header fields of the handshake's response.
    case connected([HTTPField])
    /// One for each ended connection or failed attempt. `detail` is one line for people, `retryAfter` what the server
    /// asked for when it rejected the handshake.
    case disconnected(DisconnectReason, detail: String, retryAfter: Duration?)
    case paused, resumed
}
