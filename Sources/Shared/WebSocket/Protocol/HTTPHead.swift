internal import Bytes
internal import HTTPText

/// The part of an HTTP/1.1 message before its body (RFC 9112, section 2.1).
struct HTTPHead: Equatable {
    let startLine: String
    let fields: HTTPFields
}

extension HTTPHead {
    /// - Parameter text: all lines with their ends, the empty one last.
    fileprivate init(_ text: [UInt8]) throws(HTTPHeadError) {
        let lines = text.split(separator: UInt8(ascii: "\n")).map { line in
            line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        }
        guard lines[0].allSatisfy({ $0 >= 0x20 }) else { throw .notHTTP }
        var fields: [HTTPField] = []
        for line in lines.dropFirst() where !line.isEmpty {
            if isBlank(line[line.startIndex]) {
                // A folded line (section 5.2): it goes on with the value before it.
                guard !fields.isEmpty, !line.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\r") }) else {
                    throw .badField
                }
                let more = String(decoding: trimmed(line), as: UTF8.self)
                fields[fields.count - 1].value += more.isEmpty ? "" : " " + more
            } else if let field = HTTPField(line: line) {
                fields.append(field)
            } else {
                throw .badField
            }
        }
        self.init(startLine: String(decoding: lines[0], as: UTF8.self), fields: HTTPFields(fields))
    }
}

enum HTTPHeadError: Error, Equatable {
    /// The first line does not begin as it has to, or has a control character.
    case notHTTP
    /// Longer than `HTTPHeadReader.maximumBytes`.
    case tooLong
    /// A line is no header field.
    case badField
}

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
    mutating func read(_ bytes: Span<UInt8>, at position: inout Int) throws(HTTPHeadError) -> HTTPHead? {
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            count += 1
            guard count <= Self.maximumBytes else { throw .tooLong }
            if text.count < beginning.count, byte != beginning[text.count] { throw .notHTTP }
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
