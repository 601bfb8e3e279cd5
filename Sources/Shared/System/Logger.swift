internal import Bytes

/// A program's log: one line per event on standard error, written without blocking. Libraries do not log. The format
/// is that of Prometheus 3, which uses Go's `slog`: time, level, message and fields.
public struct Logger: Sendable {
    /// Named as in `--log.level`; in upper case in the log.
    public enum Level: String, CaseIterable, Comparable, Sendable {
        case debug, info
        case warning = "warn"
        case error

        public static func < (first: Level, second: Level) -> Bool { first.rank < second.rank }

        private var rank: Int {
            switch self {
            case .debug: 0
            case .info: 1
            case .warning: 2
            case .error: 3
            }
        }
    }

    /// Fields that follow the message, in this order. Names are unique, and none is `time`, `level` or `msg`.
    public struct Metadata: ExpressibleByDictionaryLiteral, Equatable, Sendable {
        struct Field: Equatable, Sendable {
            let name: String
            let value: String
        }

        private(set) var fields: [Field] = []

        public init(dictionaryLiteral fields: (String, String)...) {
            self.fields = fields.map { Field(name: $0, value: $1) }
        }

        public static func + (first: Metadata, second: Metadata) -> Metadata {
            var both = first
            both.fields += second.fields
            return both
        }

        /// The fields in logfmt.
        public var text: String { LogFormat.logfmt.line(self) }
    }

    private let level: Level
    private let format: LogFormat
    private let now: @Sendable () -> Int64
    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameters:
    ///   - level: lowest level that is written.
    ///   - now: milliseconds since the Unix epoch.
    public init(
        level: Level = .info, format: LogFormat = .logfmt, now: @escaping @Sendable () -> Int64 = currentTime,
        write: @escaping @Sendable ([UInt8]) -> Void = { LogWriter.standardError.append($0) }
    ) {
        self.level = level
        self.format = format
        self.now = now
        self.write = write
    }

    public func debug(_ text: String, metadata: Metadata = [:]) { log(level: .debug, text, metadata: metadata) }

    public func info(_ text: String, metadata: Metadata = [:]) { log(level: .info, text, metadata: metadata) }

    public func warning(_ text: String, metadata: Metadata = [:]) { log(level: .warning, text, metadata: metadata) }

    public func error(_ text: String, metadata: Metadata = [:]) { log(level: .error, text, metadata: metadata) }

    public func log(level: Level, _ text: String, metadata: Metadata = [:]) {
        guard level >= self.level else { return }
        var time: [UInt8] = []
        time.appendRFC3339(now())
        let head: Metadata = [
            "time": String(decoding: time, as: UTF8.self), "level": level.rawValue.uppercased(), "msg": text,
        ]
        write(Array((format.line(head + metadata) + "\n").utf8))
    }
}
