internal import Bytes
public import HTTPText

extension HTTPField {
    /// True for fields that the handshake sets itself, so that they cannot be given.
    public var isReserved: Bool { Self.reserved.contains { equalsIgnoringCase(name.utf8, $0) } }

    /// Completes an error about a reserved field.
    public var expectedInstead: String {
        isNamed("Sec-WebSocket-Protocol")
            ? "the flag for subprotocols instead of the header \(name)"
            : "no header \(name), which the handshake sets itself"
    }

    private static let reserved = [
        "Host", "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Extensions",
        "Sec-WebSocket-Accept", "Sec-WebSocket-Protocol", "Content-Length", "Transfer-Encoding",
    ]
}
