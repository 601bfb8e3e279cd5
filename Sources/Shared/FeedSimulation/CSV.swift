/// Reads the rows of CSV (RFC 4180); lines may end with LF alone.
package struct CSVReader {
    private static let quote = UInt8(ascii: "\"")

    private let bytes: [UInt8]
    private var offset: Int
    /// Number of the line in which the next row starts.
    private var line = 1

    /// - Parameter bytes: a byte order mark at the start is skipped.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        offset = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    /// The fields of the next row that is not empty, and the line where it starts; `nil` at the end of the file.
    package mutating func nextRow() throws(RecordingError) -> (line: Int, fields: [[UInt8]])? {
        while offset < bytes.count {
            let first = line
            var fields = [try readField()]
            while next == UInt8(ascii: ",") {
                offset += 1
                fields.append(try readField())
            }
            offset += next == UInt8(ascii: "\r") ? 2 : 1
            line += 1
            if fields != [[]] { return (first, fields) }
        }
        return nil
    }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    /// At a comma, a line end or the end of the file.
    private var isAtEndOfField: Bool {
        switch next {
        case nil, UInt8(ascii: ","), UInt8(ascii: "\n"): true
        case UInt8(ascii: "\r"): offset + 1 < bytes.count && bytes[offset + 1] == UInt8(ascii: "\n")
        default: false
        }
    }

    private mutating func readField() throws(RecordingError) -> [UInt8] {
        var field: [UInt8] = []
        guard next == Self.quote else {
            while !isAtEndOfField {
                guard bytes[offset] != Self.quote else {
                    throw RecordingError(
                        line: line,
                        "a quotation mark stands inside a field, expected it doubled, and the field in quotation marks")
                }
                field.append(bytes[offset])
                offset += 1
            }
            return field
        }
        let first = line
        offset += 1
        while let byte = next {
            offset += 1
            if byte == Self.quote {
                guard next == Self.quote else {
                    guard isAtEndOfField else {
                        throw RecordingError(line: line, "text follows a closing quotation mark, expected a comma")
                    }
                    return field
                }
                offset += 1
            }
            if byte == UInt8(ascii: "\n") { line += 1 }
            field.append(byte)
        }
        throw RecordingError(line: first, "a quotation mark is never closed")
    }
}
