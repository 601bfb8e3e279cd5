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
    var metadataProvider: Logger.MetadataProvider?
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
        var all = metadata
        // What is said of the event wins over what holds for its task, and that over what holds for the logger.
        for more in [metadataProvider?.get(), event.metadata] {
            all.merge(more ?? [:]) { _, new in new }
        }
        if let error = event.error { all["err"] = "\(error)" }
        let line = LogLine(
            time: now(), level: event.level, file: event.file, line: event.line, message: event.message.description,
            metadata: all)
        switch format {
        case .logfmt: write(line.logfmt())
        case .json: write(line.json())
        }
    }
}

extension Logger.Level {
    /// From a value of `--log.level`; nil for what is none.
    init?(flag: String) {
        switch flag {
        case "debug": self = .debug
        case "info": self = .info
        case "warn": self = .warning
        case "error": self = .error
        default: return nil
        }
    }
}
