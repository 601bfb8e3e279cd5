import AirQuality
import Logging
import System

/// The form of `--log.format`.
enum LogFormat: String, CaseIterable, Sendable {
    case logfmt
    case json
}

/// Writes each event that swift-log lets pass as one line with one `write`, to standard error.
struct StandardErrorLog: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var format: LogFormat
    var now: @Sendable () -> Timestamp = currentTime
    var write: @Sendable ([UInt8]) -> Void = { StandardStream.error.write($0) }

    init(level: Logger.Level, format: LogFormat) {
        logLevel = level
        self.format = format
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let line = LogLine(
            time: now(), level: event.level, file: event.file, line: event.line, message: event.message.description,
            metadata: metadata.merging(event.metadata ?? [:]) { _, new in new })
        switch format {
        case .logfmt: write(line.logfmt())
        case .json: write(line.json())
        }
    }
}
