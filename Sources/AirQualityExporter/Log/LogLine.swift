import AirQuality
import Bytes
import HTTPServer
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
        var text: [UInt8] = Array("time=".utf8)
        text.appendRFC3339(time)
        text += Array(" level=\(levelName) source=".utf8)
        text.appendLogfmt(source)
        text += Array(" msg=".utf8)
        text.appendLogfmt(message)
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            appendLogfmt(Self.notReserved(key), value, to: &text)
        }
        text.append(UInt8(ascii: "\n"))
        return text
    }

    /// The same members in the same order as a JSON object, with a line end.
    func json() -> [UInt8] {
        var text: [UInt8] = Array("{\"time\":\"".utf8)
        text.appendRFC3339(time)
        text += Array("\",\"level\":\"\(levelName)\",\"source\":".utf8)
        text.appendJSON(source)
        text += Array(",\"msg\":".utf8)
        text.appendJSON(message)
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            text.append(UInt8(ascii: ","))
            text.appendJSON(Self.notReserved(key))
            text.append(UInt8(ascii: ":"))
            text.appendJSON(value)
        }
        text += Array("}\n".utf8)
        return text
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

    /// A key must not look like one of the line's own.
    private static func notReserved(_ key: String) -> String {
        ["time", "level", "source", "msg"].contains(key) ? "logged_" + key : key
    }

    /// A dictionary's members become keys of their own, `key.member=value`.
    private func appendLogfmt(_ key: String, _ value: Logger.MetadataValue, to text: inout [UInt8]) {
        if case .dictionary(let members) = value {
            for (member, value) in members.sorted(by: { $0.key < $1.key }) {
                appendLogfmt(key + "." + member, value, to: &text)
            }
            return
        }
        text.append(UInt8(ascii: " "))
        text.appendLogfmt(key)
        text.append(UInt8(ascii: "="))
        text.appendLogfmt(Self.text(of: value))
    }

    private static func text(of value: Logger.MetadataValue) -> String {
        guard case .array(let values) = value else { return "\(value)" }
        return "[" + values.map(text).joined(separator: " ") + "]"
    }
}
