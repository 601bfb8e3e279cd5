internal import Bytes
internal import HTTPText

/// The beginning of the text in a response that refuses the handshake; it often says why.
struct RejectionBody {
    static let maximumBytes = 200
    /// More than the text, because chunks have heads.
    private static let maximumReceivedBytes = 1 << 10

    private let isChunked: Bool
    /// `nil` if only the end of the connection ends the body, or chunks do.
    private let length: Int?
    private var received: [UInt8] = []

    /// `nil` if the response has no body that can be shown.
    init?(_ fields: [HTTPField]) {
        let type = fields.first("Content-Type")?.lowercased() ?? "text/plain"
        let isText = type.hasPrefix("text/") || type.contains("json") || type.contains("xml")
        isChunked = fields.first("Transfer-Encoding").map { equalsIgnoringCase($0.utf8, "chunked") } ?? false
        length = isChunked ? nil : fields.first("Content-Length").flatMap { decimalNumber($0.utf8) }
        guard isText, fields.first("Content-Encoding") == nil, length != 0 else { return nil }
    }

    mutating func append(_ bytes: Span<UInt8>) {
        for index in 0..<min(bytes.count, Self.maximumReceivedBytes - received.count) { received.append(bytes[index]) }
    }

    var isComplete: Bool {
        received.count >= min(length ?? .max, Self.maximumReceivedBytes)
            || (isChunked && received.suffix(7).elementsEqual("\r\n0\r\n\r\n".utf8))
    }

    /// The first bytes, without white space around them; empty if they are no text.
    var text: String {
        let body = isChunked ? Self.joinedChunks(received[...]) : Array(received.prefix(length ?? .max))
        guard !body.contains(0) else { return "" }
        let first = body.drop(while: isJSONBlank).prefix(Self.maximumBytes)
        let end = first.lastIndex { !isJSONBlank($0) }.map { $0 + 1 } ?? first.startIndex
        return String(decoding: first[..<end], as: UTF8.self)
    }

    /// Returns the content of the chunks (RFC 9112, section 7.1), as far as they are there.
    private static func joinedChunks(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var rest = bytes
        var content: [UInt8] = []
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let digits = rest[..<end].prefix { isLetterOrDigit($0) }
            guard let count = Int(String(decoding: digits, as: UTF8.self), radix: 16), count > 0 else { break }
            content += rest[(end + 1)...].prefix(count)
            rest = rest[(end + 1)...].dropFirst(count).drop { $0 == UInt8(ascii: "\r") }.dropFirst()
        }
        return content
    }
}
