internal import Bytes
internal import JSON

/// Messages of a feed, or readings of several days, from a file.
///
/// The first character distinguishes two formats:
/// - lines of JSON, each a message as sent by the feed, or a line from ``appendRecordedLine(_:at:message:to:)``, which
///   has no other fields; what a client sent is skipped;
/// - CSV (RFC 4180) with columns City, Date and AQI, as India's Central Pollution Control Board publishes it: all rows
///   of a date form one message.
public struct Recording: Sendable {
    /// At least one.
    public private(set) var messages: [[UInt8]] = []
    /// Arrival of each message in epoch milliseconds, `nil` if unknown; empty for CSV.
    private var times: [Int64?] = []
    /// Numbers of incomplete lines, which were omitted because their writer was killed.
    public private(set) var cutOffLines: [Int] = []
    fileprivate static let recordedLineStart = "{\"time_ms\":"

    /// Reads and checks the whole content; a byte order mark at the start is skipped.
    public init(_ bytes: [UInt8]) throws(RecordingError) {
        let start = hasByteOrderMark(bytes.span) ? 3 : 0
        switch bytes[start...].first(where: { !isJSONBlank($0) }) {
        case nil: throw RecordingError(line: 1, "the file is empty, expected CSV with a header, or lines of JSON")
        case UInt8(ascii: "{"), UInt8(ascii: "["): try readLines(bytes[start...])
        default: try readDays(bytes)
        }
        guard !messages.isEmpty else { throw RecordingError(line: 1, "there are no rows, expected at least one") }
    }

    /// Whether any message has its time of arrival.
    public var isTimed: Bool { times.contains { $0 != nil } }

    /// Returns the time since the previous message, zero if the clock was set back; `nil` if unknown.
    public func gap(before step: Int) -> Duration? {
        guard step > 0, step < times.count, let time = times[step], let before = times[step - 1] else { return nil }
        return .milliseconds(max(0, time - before))
    }

    private mutating func readLines(_ bytes: ArraySlice<UInt8>) throws(RecordingError) {
        var reader = JSONReader()
        let start = Array(Self.recordedLineStart.utf8)
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.allSatisfy(isJSONBlank) {
            do throws(RecordingError) {
                guard let (message, time) = try Self.message(in: line, lineNumber: index + 1, with: &reader) else {
                    continue
                }
                messages.append(message)
                times.append(time)
            } catch {
                // The `record` command ends a truncated line before it appends others.
                let isRecorded = line.prefix(start.count).elementsEqual(start.prefix(line.count))
                let isLast = index + 1 == lines.count && index > 0
                guard isLast || (isRecorded && reader.read(line.span) == nil) else { throw error }
                cutOffLines.append(index + 1)
            }
        }
    }

    private static func message(
        in line: ArraySlice<UInt8>, lineNumber: Int, with reader: inout JSONReader
    ) throws(RecordingError) -> (message: [UInt8], time: Int64?)? {
        let text = reader.read(line.span)?.lowerBound
        var fieldCount = 0
        switch text.map({ reader.value(at: $0) }) {
        case .array: break
        case .object(let fields):
            var position = fields.lowerBound
            while position < fields.upperBound {
                position = reader.next(after: position + 1)
                fieldCount += 1
            }
        case nil, .null, .boolean, .number, .text:
            throw RecordingError(line: lineNumber, "\(shown(line)) is not a message, expected a JSON array or object")
        }
        func field(_ name: String) -> JSONValue? {
            text.flatMap { reader.find([Array(name.utf8)], in: $0) }.map { reader.value(at: $0) }
        }
        guard fieldCount == 2, let time = field("time_ms") else { return (Array(line), nil) }
        if case .text = field(RecordedDirection.sent.rawValue) { return nil }
        guard case .text(let range) = field(RecordedDirection.received.rawValue) else { return (Array(line), nil) }
        guard case .number(let time) = time, let time = Int64(exactly: time),
            (0...8_640_000_000_000_000).contains(time)
        else { throw RecordingError(line: lineNumber, "time_ms is wrong, expected epoch milliseconds") }
        return (Array(reader.texts[range]), time)
    }

    /// Returns the message of a line: that of a recorded one, `nil` if a client sent it, else the line itself, whatever
    /// it is.
    public static func message(ofLine line: [UInt8]) -> [UInt8]? {
        guard line.starts(with: recordedLineStart.utf8) else { return line }
        var reader = JSONReader()
        do throws(RecordingError) {
            return try message(in: line[...], lineNumber: 1, with: &reader)?.message
        } catch {
            return line
        }
    }

    private mutating func readDays(_ bytes: [UInt8]) throws(RecordingError) {
        var days: [Int64: [[UInt8]]] = [:]
        try readCSV(bytes, columns: ["City", "Date", "AQI"]) { (line, fields) throws(RecordingError) in
            let city = fields[0]
            let aqi = fields[2]
            let midnight = fields[1] + "T00:00:00Z".utf8
            // R writes missing values as NA.
            let isMissing = aqi.isEmpty || aqi.elementsEqual("NA".utf8)
            guard let day = parseRFC3339(midnight.span), !city.isEmpty, isUTF8(city.span),
                isMissing || jsonNumber(aqi.span)?.isFinite == true
            else {
                let row = shown(fields.joined(separator: ",".utf8))
                let expected = "a name in UTF-8, a date such as 2019-10-01 and a number, NA or nothing"
                throw RecordingError(line: line, "City, Date and AQI are \(row), expected \(expected)")
            }
            var element = Array("{\"city\":".utf8)
            element.appendJSONString(city.span)
            element += Array(",\"aqi\":".utf8) + aqi + "}".utf8
            days[day, default: []] += isMissing ? [] : [element]
        }
        messages = days.sorted { $0.key < $1.key }.flatMap { jsonArrays(of: $0.value, maximumCount: .max) }
    }
}

/// Quotes and truncates text of a file for an error.
private func shown(_ bytes: some Sequence<UInt8>) -> String {
    quoted(String(decoding: Array(bytes.prefix(1000)), as: UTF8.self), limit: 60)
}

/// Who sent a recorded message; the name of its field.
public enum RecordedDirection: String, Sendable {
    /// The feed.
    case received = "message"
    /// Its client.
    case sent = "out"
}

/// Appends a recorded message and a line feed: `{"time_ms":1795236585252,"message":"[{\"city\":…}]"}`.
///
/// - Parameter time: epoch milliseconds.
/// - Returns: `false` if the message is not UTF-8 and thus cannot be in JSON.
public func appendRecordedLine(
    _ direction: RecordedDirection = .received, at time: Int64, message: Span<UInt8>, to bytes: inout [UInt8]
) -> Bool {
    guard isUTF8(message) else { return false }
    bytes += "\(Recording.recordedLineStart)\(time),\"\(direction.rawValue)\":".utf8
    bytes.appendJSONString(message)
    bytes += "}\n".utf8
    return true
}
