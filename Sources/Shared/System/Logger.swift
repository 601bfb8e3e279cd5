internal import Bytes

/// The log of a program: one line for each event, to standard error, where nobody waits for it. Libraries do not log.
///
/// The lines look like those of Prometheus 3, which are Go's `slog`: time, level, message, and the fields as given.
public struct Logger: Sendable {
    /// With the names of `--log.level`, which the log has in capitals.
    public enum Level: String, CaseIterable, Sendable {
        case debug, info
        case warning = "warn"
        case error
    }

    /// The fields behind the message, in this order. Each name is given once, and none is `time`, `level` or `msg`.
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

        /// The fields as a line of logfmt has them.
        public var text: String { LogFormat.logfmt.line(self) }
    }

    private let level: Level
    private let format: LogFormat
    private let now: @Sendable () -> Int64
    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameters:
    ///   - level: below it nothing is written.
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
        guard Level.allCases.drop(while: { $0 != self.level }).contains(level) else { return }
        var time: [UInt8] = []
        time.appendRFC3339(now())
        let head: Metadata = [
            "time": String(decoding: time, as: UTF8.self), "level": level.rawValue.uppercased(), "msg": text,
        ]
        write(Array((format.line(head + metadata) + "\n").utf8))
    }
}
