public import HTTPText

/// Events of a client's connections, in order, on the thread of `WebSocketClient.run`.
public enum WebSocketEvent: Sendable, Equatable {
    /// An attempt begins; `connected`, `disconnected` or both follow before the next one.
    case connecting
    /// The handshake succeeded; the fields are those of the response. The server's certificate expires at this time in
    /// epoch milliseconds; `nil` without TLS.
    case connected([HTTPField], certificateExpiry: Int64? = nil)
    /// Sent once per ended connection or failed attempt. `detail` is one human-readable line without anything that the
    /// server says; `serverWords` is what it says, on one line of at most 410 bytes; `retryAfter` is the delay that it
    /// requested when it rejected the handshake.
    case disconnected(DisconnectReason, detail: String, serverWords: String? = nil, retryAfter: Duration? = nil)
    case paused, resumed
}
