internal import Bytes
internal import HTTPText

/// The part of an HTTP/1.1 message before its body (RFC 9112, section 2.1).
struct HTTPHead: Equatable {
    let startLine: String
    let fields: HTTPFields
}

extension HTTPHead {
    /// - Parameter text: all lines with their ends, none of them empty.
    fileprivate init(_ text: [UInt8]) throws(HTTPHeadError) {
        let lines = text.split(separator: UInt8(ascii: "\n")).map { line in
            line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        }
        var fields: [HTTPField] = []
        for line in lines.dropFirst() {
            if let first = line.first, isBlank(first) {
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
    case tooLong(maximumBytes: Int)
    /// A line is no header field.
    case badField
}

/// Takes heads off the beginning of a stream of bytes.
struct HTTPHeadReader {
    private let beginning: [UInt8]
    private let maximumBytes: Int
    /// Number of bytes of all heads so far.
    private var count = 0
    /// In one piece, so that many short lines take no more memory than a long one.
    private var text: [UInt8] = []
    private var lineStart = 0

    /// - Parameters:
    ///   - beginning: expected first bytes of each head; anything else is rejected at once.
    ///   - maximumBytes: limit of all heads of the stream together.
    init(beginning: String = "", maximumBytes: Int = 64 << 10) {
        self.beginning = Array(beginning.utf8)
        self.maximumBytes = maximumBytes
    }

    /// - Parameter position: of the first byte that is not read yet; then behind the last that is.
    /// - Returns: a head, or `nil` when the bytes end before it does.
    mutating func read(_ bytes: Span<UInt8>, at position: inout Int) throws(HTTPHeadError) -> HTTPHead? {
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            count += 1
            guard count <= maximumBytes else { throw .tooLong(maximumBytes: maximumBytes) }
            text.append(byte)
            // A lone LF ends a line as well (section 2.2).
            if byte != UInt8(ascii: "\n") {
                if lineStart == 0, !isBegun(with: byte) { throw .notHTTP }
                continue
            }
            let line = text[lineStart...]
            if line.count > 2 || (line.count == 2 && line.first != UInt8(ascii: "\r")) {
                if lineStart == 0, line.count <= beginning.count { throw .notHTTP }
                lineStart = text.count
            } else if lineStart > 0 {
                let head = try HTTPHead(Array(text[..<lineStart]))
                text = []
                lineStart = 0
                return head
            } else if beginning.isEmpty {
                text = []
            } else {
                throw .notHTTP
            }
        }
        return nil
    }

    /// True if the first line, which ends with that byte so far, can be one.
    private func isBegun(with byte: UInt8) -> Bool {
        let isText = byte >= 0x20 || byte == UInt8(ascii: "\r")
        return isText && (text.count > beginning.count || byte == beginning[text.count - 1])
    }
}
