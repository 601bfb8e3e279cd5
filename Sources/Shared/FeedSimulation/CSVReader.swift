internal import Bytes

/// A reader for columns of CSV (RFC 4180) whose fields contain no line breaks; lines may end in LF. The first nonempty
/// row names the columns.
package struct CSVReader {
    private var lines: ArraySlice<ArraySlice<UInt8>>
    /// Number of the last line read.
    private var line = 0
    private var fieldCount = 0
    /// Position of each column in a row; `nil` for an optional one that the file lacks.
    private var places: [Int?] = []

    /// - Parameters:
    ///   - bytes: a byte order mark at the start is skipped.
    ///   - columns: required columns, found ignoring case; the file may have others.
    package init(_ bytes: [UInt8], columns: [String], optional: [String] = []) throws(RecordingError) {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        lines = bytes[start...].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        let header = try nextFields() ?? []
        fieldCount = header.count
        places = (columns + optional).map { name in header.firstIndex { equalsIgnoringCase($0, name) } }
        for (name, place) in zip(columns, places) where place == nil {
            let expected = columns.joined(separator: ", ")
            throw RecordingError(line: max(line, 1), "there is no column \(name), expected a header with \(expected)")
        }
    }

    /// Returns the next nonempty row and its line number, with empty fields for missing columns; `nil` at the end.
    package mutating func nextRow() throws(RecordingError) -> (line: Int, fields: [[UInt8]])? {
        guard let fields = try nextFields() else { return nil }
        guard fields.count == fieldCount else {
            throw RecordingError(line: line, "the row has \(fields.count) fields, expected \(fieldCount)")
        }
        return (line, places.map { $0.map { fields[$0] } ?? [] })
    }

    private mutating func nextFields() throws(RecordingError) -> [[UInt8]]? {
        while var row = lines.popFirst() {
            line += 1
            if row.last == UInt8(ascii: "\r") { row.removeLast() }
            if !row.isEmpty { return try fields(of: row) }
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
                // Inside quotation marks, a doubled one stands for one.
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
