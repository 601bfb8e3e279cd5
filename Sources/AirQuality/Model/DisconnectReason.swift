/// How a connection ended or a dial failed: the values of the `reason` label, a closed set.
public enum DisconnectReason: String, Sendable, CaseIterable {
    case closed, lost, refused, resolve, tls, handshake, timeout
    case pongTimeout = "pong_timeout"
    case idle
    case protocolError = "protocol"
    case requested, paused
}
