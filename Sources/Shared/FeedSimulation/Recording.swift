internal import Bytes

/// Messages of a feed, or readings of several days, from a file.
///
/// There are two kinds of files, which differ in their first character:
/// - lines of JSON, each one a message as the feed sends it, or a line of `appendRecordedLine`;
/// - CSV (RFC 4180) whose columns City, Date and AQI are found by the header: all rows of a date are one message.
///
/// The content is kept as it is in the file; messages are made on request.
public struct Recording: Sendable {
    private enum Content: Sendable {
        case days(RecordedDays)
        case lines(RecordedLines)
    }

    private let content: Content

    /// Checks the whole content.
    /// - Parameter bytes: a byte order mark at the start is skipped.
    public init(_ bytes: consuming [UInt8]) throws(RecordingError) {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        switch bytes[start...].first(where: { !isJSONBlank($0) }) {
        case nil:
            throw RecordingError(line: 1, "the file is empty, expected CSV with a header, or lines of JSON")
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            content = .lines(try RecordedLines(bytes, from: start))
        default:
            content = .days(try RecordedDays(bytes, from: start))
        }
        guard stepCount > 0 else { throw RecordingError(line: 1, "there are no rows, expected one at least") }
    }

    /// How many messages there are, one or more.
    public var stepCount: Int {
        switch content {
        case .days(let days): days.count
        case .lines(let lines): lines.count
        }
    }

    /// Whether messages have the times of their arrival.
    public var isTimed: Bool {
        switch content {
        case .days: false
        case .lines(let lines): lines.isTimed
        }
    }

    /// The number of the last line if it is incomplete, because its writer was killed; it is left out.
    public var cutOffLine: Int? {
        switch content {
        case .days: nil
        case .lines(let lines): lines.cutOffLine
        }
    }

    /// The message of a step, 0 ..< `stepCount`.
    public func message(_ step: Int) -> [UInt8] {
        switch content {
        case .days(let days): days.message(step)
        case .lines(let lines): lines.message(step)
        }
    }

    /// The time between the arrivals of a message and of the one before it, zero where the clock was set back; nil
    /// where they are not known.
    public func gap(before step: Int) -> Duration? {
        switch content {
        case .days: nil
        case .lines(let lines): lines.gap(before: step)
        }
    }
}

/// Why a file is not a recording.
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
func shown(_ bytes: some Sequence<UInt8>) -> String {
    quoted(String(decoding: Array(bytes.prefix(1000)), as: UTF8.self), limit: 60)
}
