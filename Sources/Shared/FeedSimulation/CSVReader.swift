/// Reads the rows of CSV (RFC 4180); lines may end with LF alone.
package struct CSVReader {
    /// Where a field is, without the quotation marks around it.
    package struct Field {
        package var range: Range<Int>
        /// It contains quotation marks, which are doubled.
        var isEscaped = false

        package func text(in bytes: [UInt8]) -> [UInt8] {
            guard isEscaped else { return Array(bytes[range]) }
            var text: [UInt8] = []
            var isSecond = false
            for byte in bytes[range] {
                isSecond = byte == CSVReader.quote && !isSecond
                if !isSecond { text.append(byte) }
            }
            return text
        }
    }

    private static let quote = UInt8(ascii: "\"")

    /// Of the next row.
    package private(set) var offset: Int
    /// Number of the line in which the next row starts.
    package private(set) var line: Int

    package init(offset: Int, line: Int = 1) {
        self.offset = offset
        self.line = line
    }

    /// Reads the next row, an empty one as a single empty field; false at the end of the file.
    package mutating func readRow(of bytes: [UInt8], into fields: inout [Field]) throws(RecordingError) -> Bool {
        fields.removeAll(keepingCapacity: true)
        guard offset < bytes.count else { return false }
        while true {
            if offset < bytes.count, bytes[offset] == Self.quote {
                fields.append(try readQuotedField(of: bytes))
            } else {
                fields.append(try readPlainField(of: bytes))
            }
            guard offset < bytes.count else { return true }
            offset += 1
            guard bytes[offset - 1] != UInt8(ascii: ",") else { continue }
            if bytes[offset - 1] == UInt8(ascii: "\r") { offset += 1 }
            line += 1
            return true
        }
    }

    /// Leaves the offset at the comma or the line end behind the field.
    private mutating func readPlainField(of bytes: [UInt8]) throws(RecordingError) -> Field {
        let start = offset
        while offset < bytes.count, bytes[offset] != UInt8(ascii: ","), !isLineEnd(at: offset, of: bytes) {
            guard bytes[offset] != Self.quote else {
                throw RecordingError(
                    line: line,
                    "a quotation mark stands inside a field, expected it doubled, and the field in quotation marks")
            }
            offset += 1
        }
        return Field(range: start..<offset)
    }

    private mutating func readQuotedField(of bytes: [UInt8]) throws(RecordingError) -> Field {
        let (start, firstLine) = (offset + 1, line)
        var field = Field(range: start..<start)
        offset = start
        while offset < bytes.count {
            if bytes[offset] == UInt8(ascii: "\n") { line += 1 }
            offset += 1
            guard bytes[offset - 1] == Self.quote else { continue }
            if offset < bytes.count, bytes[offset] == Self.quote {
                field.isEscaped = true
                offset += 1
                continue
            }
            field.range = start..<offset - 1
            guard offset == bytes.count || bytes[offset] == UInt8(ascii: ",") || isLineEnd(at: offset, of: bytes) else {
                throw RecordingError(line: line, "text follows a closing quotation mark, expected a comma")
            }
            return field
        }
        throw RecordingError(line: firstLine, "a quotation mark is never closed")
    }

    private func isLineEnd(at offset: Int, of bytes: [UInt8]) -> Bool {
        switch bytes[offset] {
        case UInt8(ascii: "\n"): true
        case UInt8(ascii: "\r"): offset + 1 < bytes.count && bytes[offset + 1] == UInt8(ascii: "\n")
        default: false
        }
    }
}
