/// Takes heads off the beginning of a stream of bytes.
struct HTTPHeadReader {
    /// Limit of all heads of the stream together.
    static let maximumBytes = 64 << 10

    private let beginning: [UInt8]
    /// Number of bytes of all heads so far.
    private var count = 0
    private var text: [UInt8] = []

    /// - Parameter beginning: expected first bytes of each head; anything else is rejected at once.
    init(beginning: String) { self.beginning = Array(beginning.utf8) }

    /// - Parameter position: of the first byte that is not read yet; then behind the last that is.
    /// - Returns: a head, or `nil` when the bytes end before it does.
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
            // A lone LF ends a line as well (section 2.2).
            guard byte == UInt8(ascii: "\n") else { continue }
            if text.suffix(3).elementsEqual("\n\r\n".utf8) || text.suffix(2).elementsEqual("\n\n".utf8) {
                defer { text = [] }
                return try HTTPHead(text)
            }
        }
        return nil
    }
}
