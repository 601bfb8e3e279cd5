/// Reads the rows of CSV (RFC 4180) whose fields hold no line breaks; lines may end with LF alone.
package struct CSVReader {
    private var lines: ArraySlice<ArraySlice<UInt8>>
    /// The number of the line that was read last.
    private var line = 0

    /// - Parameter bytes: a byte order mark at the start is skipped.
    package init(_ bytes: [UInt8]) {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        lines = bytes[start...].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
    }

    /// The fields of the next row that is not empty, and its line; `nil` at the end of the file.
    package mutating func nextRow() throws(RecordingError) -> (line: Int, fields: [[UInt8]])? {
        while var row = lines.popFirst() {
            line += 1
            if row.last == UInt8(ascii: "\r") { row.removeLast() }
            if !row.isEmpty { return (line, try fields(of: row)) }
        }
        return nil
    }

    private func fields(of row: ArraySlice<UInt8>) throws(RecordingError) -> [[UInt8]] {
        let quote = UInt8(ascii: "\"")
        var fields: [[UInt8]] = []
        var field: [UInt8] = []
        var isQuoted = false
        var previous: UInt8?
        for byte in row {
            if byte == quote {
                // Between quotation marks, two of them are one.
                if !isQuoted, previous == quote { field.append(byte) }
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ","), !isQuoted {
                fields.append(field)
                field = []
            } else {
                field.append(byte)
            }
            previous = byte
        }
        guard !isQuoted else { throw RecordingError(line: line, "a quotation mark is never closed") }
        return fields + [field]
    }
}
