internal import Bytes
internal import JSON

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

/// Messages in lines of JSON.
struct RecordedLines: Sendable {
    private struct Line: Sendable {
        var start: Int
        var count: Int
        /// Epoch milliseconds; nil = the line is itself the message.
        var time: Int64?
    }

    private let bytes: [UInt8]
    private var lines: [Line] = []
    private(set) var isTimed = false
    private(set) var cutOffLine: Int?

    init(_ bytes: consuming [UInt8], from start: Int) throws(RecordingError) {
        self.bytes = bytes
        var reader = Self.makeReader()
        var start = start
        var number = 0
        while start < self.bytes.count {
            number += 1
            let end = self.bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? self.bytes.count
            defer { start = end + 1 }
            var rest = self.bytes[start..<end]
            while let last = rest.last, isJSONBlank(last) { rest = rest.dropLast() }
            guard !rest.isEmpty else { continue }
            do throws(RecordingError) {
                let time = try Self.time(of: rest, line: number, with: &reader)
                lines.append(Line(start: rest.startIndex, count: rest.count, time: time))
                isTimed = isTimed || time != nil
            } catch {
                guard end == self.bytes.count, number > 1 else { throw error }
                cutOffLine = number
            }
        }
    }

    private static func makeReader() -> JSONRecordReader {
        JSONRecordReader(members: ["message", "time_ms"])
    }

    private static func time(
        of line: ArraySlice<UInt8>, line number: Int, with reader: inout JSONRecordReader
    ) throws(RecordingError) -> Int64? {
        switch reader.read(line.span) {
        case .notJSON: throw RecordingError(line: number, "\(shown(line)) is not JSON, expected a message of a feed")
        case .notAnArray:
            throw RecordingError(line: number, "\(shown(line)) is not a message, expected an array or an object")
        case .records: break
        }
        guard line.first == UInt8(ascii: "{"), reader.nextRecords() == 1,
            case .text = reader.value(record: 0, member: 0)
        else { return nil }
        guard case .number(let time) = reader.value(record: 0, member: 1), let time = Int64(exactly: time),
            (0...8_640_000_000_000_000).contains(time)
        else {
            throw RecordingError(line: number, "time_ms is missing or wrong, expected epoch milliseconds")
        }
        return time
    }

    var count: Int { lines.count }

    func message(_ step: Int) -> [UInt8] {
        let line = lines[step]
        let text = bytes[line.start..<line.start + line.count]
        guard line.time != nil else { return Array(text) }
        var reader = Self.makeReader()
        // The initializer has read it before.
        guard reader.read(text.span) == .records, reader.nextRecords() == 1,
            case .text(let range) = reader.value(record: 0, member: 0)
        else { return [] }
        return reader.withTexts { texts in range.map { texts[$0] } }
    }

    func gap(before step: Int) -> Duration? {
        guard step > 0, let time = lines[step].time, let before = lines[step - 1].time else { return nil }
        return .milliseconds(max(0, time - before))
    }
}
