internal import Bytes

/// Reads columns of CSV (RFC 4180) whose fields contain no line breaks; lines may end in LF. The first nonempty row
/// names the columns.
///
/// - Parameters:
///   - bytes: a byte order mark at the start is skipped.
///   - columns: required columns, found ignoring case; the file may have others.
///   - read: called for each other nonempty row, with empty fields for missing optional columns.
package func readCSV(
    _ bytes: [UInt8], columns: [String], optional: [String] = [],
    forEachRow read: (_ line: Int, _ fields: [[UInt8]]) throws(RecordingError) -> Void
) throws(RecordingError) {
    let start = hasByteOrderMark(bytes.span) ? 3 : 0
    let lines = bytes[start...].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
    let headerIndex = lines.firstIndex { !$0.isEmpty } ?? 0
    let header = try fields(of: lines[headerIndex], line: headerIndex + 1)
    let places = (columns + optional).map { name in header.firstIndex { equalsIgnoringCase($0, name) } }
    for (name, place) in zip(columns, places) where place == nil {
        let expected = columns.joined(separator: ",")
        throw RecordingError(line: headerIndex + 1, "there is no column \(name), expected a header with \(expected)")
    }
    for index in lines.indices.dropFirst(headerIndex + 1) where !lines[index].isEmpty {
        let fields = try fields(of: lines[index], line: index + 1)
        guard fields.count == header.count else {
            throw RecordingError(line: index + 1, "the row has \(fields.count) fields, expected \(header.count)")
        }
        let values = places.map { place in place.map { fields[$0] } ?? [] }
        try read(index + 1, values)
    }
}

private func fields(of row: ArraySlice<UInt8>, line: Int) throws(RecordingError) -> [[UInt8]] {
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
    guard !isQuoted else { throw RecordingError(line: line, "a quotation mark is not closed on the line") }
    return fields + [field]
}
