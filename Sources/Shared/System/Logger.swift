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

    /// The fields behind the message; their names differ. One named `time`, `level` or `msg` is left out of the line.
    public struct Metadata: ExpressibleByDictionaryLiteral, Equatable, Sendable {
        fileprivate var fields: [Field] = []

        fileprivate struct Field: Equatable, Sendable {
            var name: String
            var value: String
        }

        public init(dictionaryLiteral fields: (String, String)...) {
            for (name, value) in fields { self[name] = value }
        }

        /// A new field comes last.
        public subscript(name: String) -> String? {
            get { fields.first { $0.name == name }?.value }
            set {
                if let index = fields.firstIndex(where: { $0.name == name }) {
                    if let newValue { fields[index].value = newValue } else { fields.remove(at: index) }
                } else if let newValue {
                    fields.append(Field(name: name, value: newValue))
                }
            }
        }

        /// The fields as a line of logfmt has them.
        public var text: String {
            fields.map { "\(logfmtText($0.name))=\(logfmtText($0.value))" }.joined(separator: " ")
        }

        /// Both; where both have a field, the other's value.
        public func merging(_ other: Metadata) -> Metadata {
            var merged = self
            for field in other.fields { merged[field.name] = field.value }
            return merged
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
        // Metadata can hold text of a feed, which must not replace what the line says of itself.
        let fields = head.merging(metadata()).merging(head)
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
