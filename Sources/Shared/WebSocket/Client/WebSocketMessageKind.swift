public enum WebSocketMessageKind: Sendable, Equatable {
    /// Text as the peer sent it: its UTF-8 is not checked here.
    case text
    case binary
    /// Longer than the limit; the message itself is not kept. `bytes` is its length on the wire.
    case tooLarge(bytes: Int)
}
