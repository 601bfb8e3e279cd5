internal import Bytes
public import HTTPText

extension HTTPField {
    /// Whether the handshake sets this field itself, so that users cannot.
    public var isReserved: Bool { Self.reserved.contains { equalsIgnoringCase(name.utf8, $0) } }

    /// For a reserved field, the text that follows "expected" in an error message.
    public var expectedInstead: String {
        isNamed("Sec-WebSocket-Protocol")
            ? "the subprotocol flag instead of the header \(name)"
            : "a header other than \(name), which the handshake sets itself"
    }

    private static let reserved = [
        "Host", "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Extensions",
        "Sec-WebSocket-Accept", "Sec-WebSocket-Protocol", "Content-Length", "Transfer-Encoding",
    ]
}
