/// Reads the HTTP heads at the start of a byte stream that arrives in pieces.
struct HTTPHeadReader {
    /// Limit on the combined size of all heads in the stream.
    static let maximumBytes = 64 << 10

    private let beginning: [UInt8]
    private var count = 0
    private var text: [UInt8] = []

    /// - Parameter beginning: required start of each head; the first byte that differs is an error.
    init(beginning: String) { self.beginning = Array(beginning.utf8) }

    /// - Parameter position: index of the first unread byte; advanced past the bytes that are read.
    /// - Returns: a head, or `nil` if the bytes end before it does.
    mutating func read(_ bytes: Span<UInt8>, at position: inout Int) throws(HandshakeRejection) -> HTTPHead? {
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            count += 1
            guard count <= Self.maximumBytes else {
                throw HandshakeRejection(
                    "the header is longer than \(Self.maximumBytes) bytes",
                    status: "431 Request Header Fields Too Large")
            }
            if text.count < beginning.count, byte != beginning[text.count] {
                throw HandshakeRejection("it does not begin with \(String(decoding: beginning, as: UTF8.self))")
            }
            text.append(byte)
            // A lone LF also ends a line (RFC 9112, section 2.2).
            guard byte == UInt8(ascii: "\n") else { continue }
            if text.suffix(3).elementsEqual("\n\r\n".utf8) || text.suffix(2).elementsEqual("\n\n".utf8) {
                defer { text = [] }
                return try HTTPHead(text)
            }
        }
        return nil
    }
}
