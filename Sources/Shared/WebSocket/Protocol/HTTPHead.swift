internal import Bytes

/// A header field (RFC 9110, section 5).
public struct HTTPField: Sendable, Equatable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Reads `Name: value`; blanks and tabs around the value do not belong to it. Nil when the name is no token or the
    /// value has a control character.
    public init?(line: String) {
        guard let field = HTTPField(Array(line.utf8)[...]), field.isValid else { return nil }
        self = field
    }

    /// Whether it can be sent: the name is a token, and the value has no control characters.
    public var isValid: Bool {
        !name.isEmpty && name.utf8.allSatisfy(isTokenCharacter)
            && value.utf8.allSatisfy(isFieldContent)
    }

    /// Nil for a line that is no field (RFC 9112, section 5): no colon, a blank in the name, a NUL or a lone CR in the
    /// value. Other control characters are left to who reads the value.
    fileprivate init?(_ line: ArraySlice<UInt8>) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = line[..<colon]
        let value = trimmed(line[(colon + 1)...])
        guard !name.isEmpty, name.allSatisfy(isTokenCharacter), hasNoBreak(value) else { return nil }
        self.name = String(decoding: name, as: UTF8.self)
        self.value = String(decoding: value, as: UTF8.self)
    }
}

/// The header fields of a message, in their order.
public struct HTTPFields: Sendable, Equatable {
    fileprivate(set) var fields: [HTTPField]

    init(_ fields: [HTTPField] = []) {
        self.fields = fields
    }

    /// The value of the first field of that name, in any case.
    public func first(_ name: String) -> String? {
        fields.first { isNamed($0, name) }?.value
    }

    /// How many there are of that name.
    func count(_ name: String) -> Int {
        fields.count { isNamed($0, name) }
    }

    /// The members of all fields of that name, each a comma-separated list (RFC 9110, section 5.6.1).
    func list(_ name: String) -> [String] {
        fields.filter { isNamed($0, name) }.flatMap { $0.value.split(separator: ",") }
            .map { String(trimmed($0)) }.filter { !$0.isEmpty }
    }

    private func isNamed(_ field: HTTPField, _ name: String) -> Bool {
        equalsIgnoringCase(field.name.utf8, name)
    }
}

/// What stands before the body of an HTTP/1.1 message (RFC 9112, section 2.1).
struct HTTPHead: Equatable {
    let startLine: String
    let fields: HTTPFields
}

extension HTTPHead {
    /// - Parameter lines: without their ends, the start line first.
    fileprivate init(_ lines: [[UInt8]]) throws(HTTPHeadError) {
        var fields: [HTTPField] = []
        for line in lines.dropFirst() {
            if let first = line.first, isBlank(first) {
                // A folded line (section 5.2): it goes on with the value before it.
                guard !fields.isEmpty, hasNoBreak(line[...]) else { throw .badField }
                let more = String(decoding: trimmed(line[...]), as: UTF8.self)
                fields[fields.count - 1].value += more.isEmpty ? "" : " " + more
            } else if let field = HTTPField(line[...]) {
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
    /// Of all heads of the stream together.
    static let maximumBytes = 64 << 10

    private let beginning: [UInt8]
    private var count = 0
    private var lines: [[UInt8]] = []
    private var line: [UInt8] = []

    /// - Parameter beginning: of each head; what begins otherwise is refused at once.
    init(beginning: String = "") {
        self.beginning = Array(beginning.utf8)
    }

    /// - Parameter position: of the first byte that is not read yet; then behind the last that is.
    /// - Returns: a head, or nil when the bytes end before it does.
    mutating func read(_ bytes: Span<UInt8>, at position: inout Int) throws(HTTPHeadError) -> HTTPHead? {
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            count += 1
            guard count <= Self.maximumBytes else { throw .tooLong }
            if byte != UInt8(ascii: "\n") {
                line.append(byte)
                if lines.isEmpty, !isBegun(with: byte) { throw .notHTTP }
                continue
            }
            // A lone LF ends a line as well (section 2.2).
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if !line.isEmpty {
                if lines.isEmpty, line.count < beginning.count { throw .notHTTP }
                lines.append(line)
                line.removeAll(keepingCapacity: true)
            } else if !lines.isEmpty {
                defer { lines = [] }
                return try HTTPHead(lines)
            } else if !beginning.isEmpty {
                throw .notHTTP
            }
        }
        return nil
    }
}

extension HTTPHeadReader {
    /// Whether the first line, which ends with that byte so far, can be one.
    private func isBegun(with byte: UInt8) -> Bool {
        let isText = byte >= 0x20 || byte == UInt8(ascii: "\r")
        return isText && (line.count > beginning.count || byte == beginning[line.count - 1])
    }
}

/// Neither a NUL nor a lone CR, which others may take for the end of a text or of a line.
private func hasNoBreak(_ value: ArraySlice<UInt8>) -> Bool {
    value.allSatisfy { $0 != 0 && $0 != UInt8(ascii: "\r") }
}
