public enum WebSocketMessageKind: Sendable, Equatable {
    /// Text as sent by the peer; its UTF-8 is not validated.
    case text
    case binary
    /// Exceeds the size limit; its content is discarded. `bytes` is its length on the wire.
    case tooLarge(bytes: Int)
}
