internal import Bytes
internal import JSON

/// Daily readings of cities, as the Central Pollution Control Board publishes them: rows of CSV.
struct RecordedDays: Sendable {
    private struct Columns: Sendable {
        var city = 0
        var date = 0
        var index = 0
        var count = 0
    }

    private struct Row: Sendable {
        /// 20191001: sorts as the date does.
        var date: Int32
        var offset: Int
    }

    private let bytes: [UInt8]
    private let columns: Columns
    /// Sorted by date; those of one date in the order of the file.
    private var rows: [Row] = []
    /// The position of each date's first row.
    private var starts: [Int] = []

    init(_ bytes: consuming [UInt8], from start: Int) throws(RecordingError) {
        self.bytes = bytes
        var reader = CSVReader(offset: start)
        var fields: [CSVReader.Field] = []
        _ = try reader.readRow(of: self.bytes, into: &fields)
        columns = try Self.columns(fields, of: self.bytes)
        while true {
            let (offset, line) = (reader.offset, reader.line)
            guard try reader.readRow(of: self.bytes, into: &fields) else { break }
            if fields.count == 1, fields[0].range.isEmpty { continue }
            rows.append(Row(date: try check(fields, line: line), offset: offset))
        }
        rows.sort { ($0.date, $0.offset) < ($1.date, $1.offset) }
        starts = rows.indices.filter { $0 == 0 || rows[$0].date != rows[$0 - 1].date }
    }

    private static func columns(_ fields: [CSVReader.Field], of bytes: [UInt8]) throws(RecordingError) -> Columns {
        let header = fields.map { $0.text(in: bytes) }
        func position(_ name: String) throws(RecordingError) -> Int {
            let positions = header.indices.filter { header[$0] == Array(name.utf8) }
            guard positions.count == 1 else {
                let what = positions.isEmpty ? "there is no column \(name)" : "there are several columns \(name)"
                throw RecordingError(line: 1, "\(what), expected a header with City, Date and AQI")
            }
            return positions[0]
        }
        return Columns(
            city: try position("City"), date: try position("Date"), index: try position("AQI"), count: header.count)
    }

    /// Whether the row can be sent.
    /// - Returns: its date.
    private func check(_ fields: [CSVReader.Field], line: Int) throws(RecordingError) -> Int32 {
        guard fields.count == columns.count else {
            throw RecordingError(line: line, "the row has \(fields.count) fields, expected \(columns.count)")
        }
        let (city, index) = (fields[columns.city], fields[columns.index])
        guard !city.range.isEmpty else { throw RecordingError(line: line, "City is empty, expected a name") }
        guard isUTF8(bytes[city.range].span) else {
            throw RecordingError(line: line, "City \(shown(bytes[city.range])) is not UTF-8, expected a name")
        }
        guard isMissing(index) || jsonNumber(bytes[index.range].span) != nil else {
            throw RecordingError(
                line: line, "AQI \(shown(bytes[index.range])) is not a number, expected one, or nothing")
        }
        let date = bytes[fields[columns.date].range]
        guard let number = Self.date(date) else {
            throw RecordingError(line: line, "Date \(shown(date)) is not a date, expected one such as 2019-10-01")
        }
        return number
    }

    /// Nothing, or `NA`, which is how the R language writes it.
    private func isMissing(_ index: CSVReader.Field) -> Bool {
        index.range.isEmpty || bytes[index.range].elementsEqual("NA".utf8)
    }

    /// `2019-10-01` as 20191001.
    private static func date(_ text: ArraySlice<UInt8>) -> Int32? {
        let parts = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [4, 2, 2], let year: Int32 = decimalNumber(parts[0]),
            let month: Int32 = decimalNumber(parts[1]), let day: Int32 = decimalNumber(parts[2]),
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        return year * 10_000 + month * 100 + day
    }

    var count: Int { starts.count }

    func message(_ step: Int) -> [UInt8] {
        let end = step + 1 < starts.count ? starts[step + 1] : rows.count
        var message = [UInt8(ascii: "[")]
        var fields: [CSVReader.Field] = []
        for row in rows[starts[step]..<end] {
            var reader = CSVReader(offset: row.offset)
            // The initializer has read it before.
            guard (try? reader.readRow(of: bytes, into: &fields)) == true else { continue }
            let index = fields[columns.index]
            guard !isMissing(index) else { continue }
            if message.count > 1 { message.append(UInt8(ascii: ",")) }
            message += "{\"city\":".utf8
            message.appendJSONString(fields[columns.city].text(in: bytes).span)
            message += ",\"aqi\":".utf8
            message += bytes[index.range]
            message.append(UInt8(ascii: "}"))
        }
        message.append(UInt8(ascii: "]"))
        return message
    }
}
