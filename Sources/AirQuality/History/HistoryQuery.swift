internal import Bytes

/// Which points a reader of the history wants.
public struct HistoryQuery: Sendable, Equatable {
    /// Names, byte for byte; nil: all cities.
    public var cities: [[UInt8]]?
    /// The newest so many of each city; nil: all.
    public var limit: Int?
    /// Points later than this.
    public var since: Timestamp?

    public init() {}

    /// What was wrong with a query, in one line for the one who asked.
    public struct Failure: Error, Equatable {
        public var line: String
    }

    /// - Parameter query: the form-encoded part of the address behind `?`.
    public init(_ query: String) throws(Failure) {
        for pair in query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: true) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]) else {
                throw Failure(line: "query: a parameter's name is no percent-encoded UTF-8")
            }
            let raw = parts.count == 2 ? parts[1] : Substring("").utf8[...]
            guard let value = Self.decoded(raw) else {
                throw Failure(line: "query: the value of \(Self.quoted(name)) is no percent-encoded UTF-8")
            }
            guard let parameter = Parameter(rawValue: String(decoding: name, as: UTF8.self)) else {
                throw Failure(line: "query: unknown parameter \(Self.quoted(name)), expected city, limit or since")
            }
            switch parameter {
            case .city:
                guard !value.isEmpty else {
                    throw Failure(line: "query: city is empty, expected a city's name")
                }
                cities = (cities ?? []) + [value]
            case .limit:
                guard limit == nil else { throw Failure(line: "query: limit stands twice") }
                guard let number = Self.number(value), number >= 1 else {
                    throw Failure(line: "query: limit is \(Self.quoted(value)), expected a whole number from 1 up")
                }
                limit = Int(clamping: number)
            case .since:
                guard since == nil else { throw Failure(line: "query: since stands twice") }
                guard let number = Self.number(value) else {
                    throw Failure(
                        line: "query: since is \(Self.quoted(value)), expected milliseconds since the Unix epoch")
                }
                since = Timestamp(clamping: number)
            }
        }
    }

    private enum Parameter: String {
        case city, limit, since
    }

    /// Digits alone; larger than 64 bits counts as the largest.
    private static func number(_ text: [UInt8]) -> UInt64? {
        guard !text.isEmpty, text.allSatisfy(isDigit) else { return nil }
        return decimalNumber(text) ?? .max
    }

    /// Nil for bad escapes and for what is no UTF-8 then.
    private static func decoded(_ text: Substring.UTF8View.SubSequence) -> [UInt8]? {
        percentDecoded(text, plusIsBlank: true).flatMap { isUTF8($0.span) ? $0 : nil }
    }

    private static func quoted(_ text: [UInt8]) -> String {
        Bytes.quoted(String(decoding: text, as: UTF8.self), limit: 64)
    }
}
