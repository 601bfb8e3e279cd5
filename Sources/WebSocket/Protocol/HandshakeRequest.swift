internal import Bytes
internal import CLibWebSockets
public import System

/// The lines that turn libwebsockets' GET into the request for a WebSocket (RFC 6455, section 4.1).
struct HandshakeRequest {
    /// The one extension that is offered. Without context takeover each message is compressed on its own: see `Inflater`.
    static let compressionOffer = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

    /// What the server must put into `Sec-WebSocket-Accept`.
    let expectedAccept: String
    /// Each ends with CR LF.
    let lines: [UInt8]

    /// - Parameter key: 16 random bytes.
    init(_ dial: ConnectionState.Dial, headers: [(name: String, value: String)], key: [UInt8]) throws(SystemError) {
        let key = encodeBase64(key)
        expectedAccept = encodeBase64(sha1(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
        var lines =
            """
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Key: \(key)\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Extensions: \(Self.compressionOffer)\r

            """
        let given = dial.isTrusted ? headers : []
        if let authorization = dial.address.authorization,
            !given.contains(where: { $0.name.lowercased() == "authorization" })
        {
            lines += "Authorization: \(authorization)\r\n"
        }
        for header in given {
            try WebSocketHeader.check(header)
            lines += "\(header.name): \(header.value)\r\n"
        }
        self.lines = Array(lines.utf8)
    }
}

/// A header for the handshake.
public enum WebSocketHeader {
    /// Reads `Name: value`. The error says nothing of the value, which may be a secret.
    public static func parse(_ line: String) throws(SystemError) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: ":") else {
            throw SystemError(.configuration, "a header has no colon: Name: value was expected")
        }
        let header = (name: String(line[..<colon]), value: String(trimmed(line[line.index(after: colon)...])))
        try check(header)
        return header
    }

    static func check(_ header: (name: String, value: String)) throws(SystemError) {
        guard !header.name.isEmpty, header.name.utf8.allSatisfy(isTokenCharacter) else {
            throw SystemError(.configuration, "a header's name is not a token of RFC 9110: Name: value was expected")
        }
        guard !reserved.contains(header.name.lowercased()) else {
            throw SystemError(.configuration, "the header \(header.name) is the handshake's own and cannot be given")
        }
        guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }) else {
            throw SystemError(.configuration, "the value of the header \(header.name) has a control character")
        }
    }

    private static let reserved: Set = [
        "host", "upgrade", "connection", "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions",
        "sec-websocket-accept", "content-length", "transfer-encoding", "pragma", "cache-control",
    ]

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}

/// Corresponds to `lws_SHA1`.
private func sha1(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 20)
    unsafe lws_SHA1(bytes, bytes.count, &digest)
    return digest
}
