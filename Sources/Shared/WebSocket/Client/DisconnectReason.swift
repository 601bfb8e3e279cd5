/// Reason why a connection ended or an attempt failed: the closed set of values of the `reason` label.
public enum DisconnectReason: String, CaseIterable, Sendable {
    /// The peer sent a close frame.
    case closed
    /// End of stream or reset without a close frame, including during the WebSocket handshake; during that of TLS it is
    /// ``tls``.
    case lost
    /// No TCP connection could be established.
    case refused
    /// The host name could not be resolved.
    case resolve
    case tls
    /// A response other than a valid 101, or a request that cannot be built.
    case handshake
    /// No completed handshake within the connect time-out.
    case timeout
    /// Nothing arrived within the pong time-out after a ping.
    case pongTimeout = "pong_timeout"
    /// No complete message within the idle time-out.
    case idle
    /// The peer violated RFC 6455 or RFC 7692.
    case protocolError = "protocol"
    /// This program was told to reconnect or to stop.
    case requested
    /// This program was told to pause.
    case paused
}
