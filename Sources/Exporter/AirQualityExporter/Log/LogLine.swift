import AirQuality
import Bytes
import Logging

/// One line of the log, as Prometheus 3 writes its own: Go's `slog` with the source's file name only.
struct LogLine {
    var time: Timestamp
    var level: Logger.Level
    /// The file with its path, as `#fileID` gives it.
    var file: String
    var line: UInt
    var message: String
    var metadata: Logger.Metadata = [:]

    /// `time=… level=INFO source=File.swift:7 msg="…" key=value`, the keys sorted, with a line end.
    func logfmt() -> [UInt8] {
        let pairs = members.map { key, value in "\(Self.logfmt(key))=\(Self.logfmt(value))" }
        return Array((pairs.joined(separator: " ") + "\n").utf8)
    }

    /// The same members in the same order as a JSON object, with a line end.
    func json() -> [UInt8] {
        let pairs = members.map { key, value in "\(Self.json.quoted(key)):\(Self.json.quoted(value))" }
        return Array(("{" + pairs.joined(separator: ",") + "}\n").utf8)
    }

    private var members: [(key: String, value: String)] {
        var time: [UInt8] = []
        time.appendRFC3339(self.time)
        let reserved = [
            ("time", String(decoding: time, as: UTF8.self)), ("level", levelName), ("source", source), ("msg", message),
        ]
        return reserved
            + metadata.sorted { $0.key < $1.key }.map { key, value in
                // A key must not look like one of these four.
                (reserved.contains { $0.0 == key } ? "logged_" + key : key, "\(value)")
            }
    }

    /// Prometheus knows four levels.
    private var levelName: String {
        switch level {
        case .trace, .debug: "DEBUG"
        case .info, .notice: "INFO"
        case .warning: "WARN"
        case .error, .critical: "ERROR"
        }
    }

    private var source: String {
        let name = file.utf8.lastIndex(of: UInt8(ascii: "/")).map { file[file.utf8.index(after: $0)...] } ?? file[...]
        return "\(name):\(line)"
    }

    // MARK: Escaping

    /// The text as it is when it is unambiguous, else in quotes. U+FFFD stands for bytes that were not UTF-8.
    private static func logfmt(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { isPrintable($0) && !" =\"\u{FFFD}".unicodeScalars.contains($0) }
        return isPlain && !text.isEmpty ? text : goSource.quoted(text)
    }

    private struct Escaping: Sendable {
        /// By the character: what follows the backslash.
        var letters: [Unicode.Scalar: Unicode.Scalar]
        var isPlain: @Sendable (Unicode.Scalar) -> Bool
        /// For the others.
        var code: @Sendable (UInt32) -> String

        func quoted(_ text: String) -> String {
            var quoted = "\""
            for scalar in text.unicodeScalars {
                if let letter = letters[scalar] {
                    quoted += "\\" + String(letter)
                } else if isPlain(scalar) {
                    quoted.unicodeScalars.append(scalar)
                } else {
                    quoted += "\\" + code(scalar.value)
                }
            }
            return quoted + "\""
        }
    }

    /// As `strconv.Quote` of Go.
    private static let goSource = Escaping(
        letters: [
            "\"": "\"", "\\": "\\", "\u{7}": "a", "\u{8}": "b", "\t": "t", "\n": "n", "\u{B}": "v", "\u{C}": "f",
            "\r": "r",
        ],
        isPlain: isPrintable,
        code: { code in
            let (letter, digits) = code < 0x80 ? ("x", 2) : code < 0x10000 ? ("u", 4) : ("U", 8)
            return letter + hexadecimal(code, digits: digits)
        })

    /// On one line; characters that steer a terminal are escaped as well. None of them is beyond U+FFFF.
    private static let json = Escaping(
        letters: ["\"": "\"", "\\": "\\", "\t": "t", "\n": "n", "\r": "r"], isPlain: { !breaksLine($0) },
        code: { "u" + hexadecimal($0, digits: 4) })

    /// As Go's `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols, and of the spaces only the ASCII one.
    @Sendable private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
        return switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
            .spaceSeparator:
            false
        default: true
        }
    }
}
