/// What a client says about its connection, in order, on the thread of `WebSocketClient.run`.
public enum WebSocketEvent: Sendable, Equatable {
    /// An attempt begins. A `connected`, a `disconnected` or both follow before the next one.
    case connecting
    /// With the header fields of the handshake's answer.
    case connected(HTTPFields)
    /// One for each ended connection or failed attempt.
    ///
    /// `detail` is one line for people. `retryAfter` is what the server asked for when it refused the handshake.
    case disconnected(DisconnectReason, detail: String, retryAfter: Duration?)
    case paused, resumed
}

/// How a connection ended or an attempt failed: a closed set.
public enum DisconnectReason: String, CaseIterable, Sendable {
    /// The peer sent a close frame.
    case closed
    /// End of stream or reset without a close frame, during the handshake too.
    case lost
    /// No TCP connection.
    case refused
    /// No address for the host's name.
    case resolve
    case tls
    /// An answer other than a valid 101, or a request that cannot be made.
    case handshake
    /// No finished handshake within the connect time-out.
    case timeout
    /// A ping was sent and nothing came after it.
    case pongTimeout = "pong_timeout"
    /// Connected, but no whole message for the idle time-out.
    case idle
    /// The peer broke RFC 6455 or RFC 7692.
    case protocolError = "protocol"
    /// We were told to reconnect or to stop.
    case requested
    /// We were told to pause.
    case paused
}

public enum WebSocketMessageKind: Sendable, Equatable {
    /// Text as the peer sent it: its UTF-8 is not checked here.
    case text
    case binary
    /// Longer than the limit; the message itself is not kept. `bytes` is its length on the wire.
    case tooLarge(bytes: Int)
}
