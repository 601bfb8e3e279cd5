/// Reason for the end of a connection or a failed attempt: the values of the `reason` label, a closed set.
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
    /// A response other than a valid 101, or a request that cannot be made.
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
