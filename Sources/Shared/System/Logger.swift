internal import Bytes

/// The form of `--log.format`.
public enum LogFormat: String, CaseIterable, Sendable {
    case logfmt
    case json
}

/// The log of a program: one line for each event, to standard error, where nobody waits for it. Libraries do not log.
///
/// The lines look like those of Prometheus 3, which are Go's `slog`: time, level, message, and the fields in the order
/// in which they are given.
public struct Logger: Sendable {
    public enum Level: Int, CaseIterable, Sendable {
        case debug, info, warning, error

        /// As in the log and, in lower case, in `--log.level`.
        public var name: String { ["DEBUG", "INFO", "WARN", "ERROR"][rawValue] }
    }

    /// The fields behind the message, in this order. Their names differ from each other, and from `time`, `level` and
    /// `msg`.
    public struct Metadata: ExpressibleByDictionaryLiteral, Equatable, Sendable {
        fileprivate struct Field: Equatable, Sendable {
            let name: String
            let value: String
        }

        fileprivate private(set) var fields: [Field]

        public init(dictionaryLiteral fields: (String, String)...) {
            self.fields = fields.map { Field(name: $0, value: $1) }
        }

        public static func += (metadata: inout Metadata, more: Metadata) { metadata.fields += more.fields }

        public static func + (first: Metadata, second: Metadata) -> Metadata {
            var both = first
            both += second
            return both
        }

        /// The fields as a line of logfmt has them.
        public var text: String {
            fields.map { "\(logfmtText($0.name))=\(logfmtText($0.value))" }.joined(separator: " ")
        }
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

    public func debug(_ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .debug, message(), metadata: metadata())
    }

    public func info(_ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .info, message(), metadata: metadata())
    }

    public func warning(_ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .warning, message(), metadata: metadata())
    }

    public func error(_ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]) {
        log(level: .error, message(), metadata: metadata())
    }

    public func log(level: Level, _ message: @autoclosure () -> String, metadata: @autoclosure () -> Metadata = [:]) {
        guard level.rawValue >= self.level.rawValue else { return }
        var time: [UInt8] = []
        time.appendRFC3339(now())
        let head: Metadata = ["time": String(decoding: time, as: UTF8.self), "level": level.name, "msg": message()]
        let fields = head + metadata()
        let line =
            switch format {
            case .logfmt: fields.text
            case .json: "{\(fields.fields.map { "\(jsonText($0.name)):\(jsonText($0.value))" }.joined(separator: ","))}"
            }
        write(Array((line + "\n").utf8))
    }
}

/// The text as it is when it is unambiguous, else as JSON, which is what readers of logfmt expect in quotes. U+FFFD
/// stands for bytes that were not UTF-8. A comma is there in lists.
private func logfmtText(_ text: String) -> String {
    let isPlain = text.unicodeScalars.allSatisfy { scalar in
        !isEscaped(scalar) && !" ,=\"\u{FFFD}".unicodeScalars.contains(scalar)
            && scalar.properties.generalCategory != .spaceSeparator
    }
    return isPlain && !text.isEmpty ? text : jsonText(text)
}

/// A JSON string on one line, without characters that steer a terminal or turn the direction of the text.
private func jsonText(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"", "\\": quoted += "\\" + String(scalar)
        case "\n": quoted += "\\n"
        case "\r": quoted += "\\r"
        case "\t": quoted += "\\t"
        case _ where isEscaped(scalar):
            for unit in String(scalar).utf16 { quoted += "\\u" + hexadecimal(unit, digits: 4) }
        default: quoted.unicodeScalars.append(scalar)
        }
    }
    return quoted + "\""
}

private func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
    breaksLine(scalar) || (!scalar.isASCII && scalar.properties.generalCategory == .format)
}
