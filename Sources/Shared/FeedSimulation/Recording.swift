internal import Bytes
internal import JSON

/// Messages of a feed, or readings of several days, from a file.
///
/// There are two kinds of files, which differ in their first character:
/// - lines of JSON, each one a message as the feed sends it, or a line of `appendRecordedLine`;
/// - CSV (RFC 4180) whose columns City, Date and AQI are found by the header, as the Central Pollution Control Board
///   publishes it: all rows of a date are one message.
public struct Recording: Sendable {
    /// One or more.
    public private(set) var messages: [[UInt8]] = []
    /// When each message arrived, in epoch milliseconds; `nil` where it is not known.
    private var times: [Int64?] = []
    /// The number of the last line if it is incomplete, because its writer was killed; it is left out.
    public private(set) var cutOffLine: Int?

    /// Checks the whole content.
    /// - Parameter bytes: a byte order mark at the start is skipped.
    public init(_ bytes: [UInt8]) throws(RecordingError) {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        switch bytes[start...].first(where: { !isJSONBlank($0) }) {
        case nil: throw RecordingError(line: 1, "the file is empty, expected CSV with a header, or lines of JSON")
        case UInt8(ascii: "{"), UInt8(ascii: "["): try readLines(bytes[start...])
        default: try readDays(bytes)
        }
        guard !messages.isEmpty else { throw RecordingError(line: 1, "there are no rows, expected one at least") }
    }

    /// Whether messages have the times of their arrival.
    public var isTimed: Bool { times.contains { $0 != nil } }

    /// The time between the arrivals of a message and of the one before it, zero where the clock was set back; `nil`
    /// where they are not known.
    public func gap(before step: Int) -> Duration? {
        guard step > 0, let time = times[step], let before = times[step - 1] else { return nil }
        return .milliseconds(max(0, time - before))
    }

    private mutating func readLines(_ bytes: ArraySlice<UInt8>) throws(RecordingError) {
        var reader = JSONRecordReader(members: ["message", "time_ms"])
        var start = bytes.startIndex
        var number = 0
        while start < bytes.endIndex {
            number += 1
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
            var line = bytes[start..<end]
            start = end + 1
            while let last = line.last, isJSONBlank(last) { line = line.dropLast() }
            guard !line.isEmpty else { continue }
            do throws(RecordingError) {
                let (message, time) = try Self.message(in: line, number: number, with: &reader)
                messages.append(message)
                times.append(time)
            } catch {
                guard end == bytes.endIndex, number > 1 else { throw error }
                cutOffLine = number
            }
        }
    }

    private static func message(
        in line: ArraySlice<UInt8>, number: Int, with reader: inout JSONRecordReader
    ) throws(RecordingError) -> (message: [UInt8], time: Int64?) {
        switch reader.read(line.span) {
        case .notJSON: throw RecordingError(line: number, "\(shown(line)) is not JSON, expected a message of a feed")
        case .notAnArray, .nothing:
            throw RecordingError(line: number, "\(shown(line)) is not a message, expected an array or an object")
        case .records: break
        }
        guard line.first == UInt8(ascii: "{"), reader.nextRecords() == 1,
            case .text(let range) = reader.value(record: 0, member: 0)
        else { return (Array(line), nil) }
        guard case .number(let time) = reader.value(record: 0, member: 1), let time = Int64(exactly: time),
            (0...8_640_000_000_000_000).contains(time)
        else { throw RecordingError(line: number, "time_ms is missing or wrong, expected epoch milliseconds") }
        return (reader.withTexts { texts in range.map { texts[$0] } }, time)
    }

    private mutating func readDays(_ bytes: [UInt8]) throws(RecordingError) {
        var reader = CSVReader(bytes)
        let header = try reader.nextRow()?.fields ?? []
        func column(_ name: String) throws(RecordingError) -> Int {
            let columns = header.indices.filter { header[$0].elementsEqual(name.utf8) }
            guard columns.count == 1 else {
                let what = columns.isEmpty ? "there is no column \(name)" : "there are several columns \(name)"
                throw RecordingError(line: 1, "\(what), expected a header with City, Date and AQI")
            }
            return columns[0]
        }
        let city = try column("City")
        let date = try column("Date")
        let index = try column("AQI")
        var days: [Int: [UInt8]] = [:]
        while let (line, fields) = try reader.nextRow() {
            guard fields.count == header.count else {
                throw RecordingError(line: line, "the row has \(fields.count) fields, expected \(header.count)")
            }
            let name = fields[city]
            let value = fields[index]
            guard !name.isEmpty else { throw RecordingError(line: line, "City is empty, expected a name") }
            guard isUTF8(name.span) else {
                throw RecordingError(line: line, "City \(shown(name)) is not UTF-8, expected a name")
            }
            // NA is how the R language writes nothing.
            let isMissing = value.isEmpty || value.elementsEqual("NA".utf8)
            guard isMissing || jsonNumber(value.span) != nil else {
                throw RecordingError(line: line, "AQI \(shown(value)) is not a number, expected one, or nothing")
            }
            guard let day = Self.day(fields[date]) else {
                throw RecordingError(
                    line: line, "Date \(shown(fields[date])) is not a date, expected one such as 2019-10-01")
            }
            var message = days.removeValue(forKey: day) ?? [UInt8(ascii: "[")]
            if !isMissing {
                if message.count > 1 { message.append(UInt8(ascii: ",")) }
                message += "{\"city\":".utf8
                message.appendJSONString(name.span)
                message += ",\"aqi\":".utf8
                message += value + [UInt8(ascii: "}")]
            }
            days[day] = message
        }
        messages = days.sorted { $0.key < $1.key }.map { $0.value + [UInt8(ascii: "]")] }
        times = Array(repeating: nil, count: messages.count)
    }

    /// `2019-10-01` as 20191001, which sorts as the date does.
    private static func day(_ text: [UInt8]) -> Int? {
        let parts = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [4, 2, 2], let year: Int = decimalNumber(parts[0]),
            let month: Int = decimalNumber(parts[1]), let day: Int = decimalNumber(parts[2]),
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        return year * 10_000 + month * 100 + day
    }
}

/// The reason why a file is not a recording.
public struct RecordingError: Error, Sendable, Equatable {
    public let line: Int
    /// One line for people: what was wrong and what was expected.
    public let reason: String

    init(line: Int, _ reason: String) {
        self.line = line
        self.reason = reason
    }
}

/// Text of a file for an error: quoted and short.
private func shown(_ bytes: some Sequence<UInt8>) -> String {
    quoted(String(decoding: Array(bytes.prefix(1000)), as: UTF8.self), limit: 60)
}

/// Appends the line of a recorded message: `{"time_ms":1795236585252,"message":"[{\"city\":…}]"}` and a line break.
/// - Parameters:
///   - receivedAt: epoch milliseconds.
///   - message: a text message. One that is not UTF-8 is not appended: JSON could not hold it.
/// - Returns: whether it was appended.
public func appendRecordedLine(receivedAt: Int64, message: Span<UInt8>, to bytes: inout [UInt8]) -> Bool {
    guard isUTF8(message) else { return false }
    bytes += "{\"time_ms\":\(receivedAt),\"message\":".utf8
    bytes.appendJSONString(message)
    bytes += "}\n".utf8
    return true
}
