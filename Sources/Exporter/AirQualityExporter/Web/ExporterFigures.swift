import Exposition
import Storage
import System

/// Metrics that may change while the store does not; `nil` = does not apply.
struct ExporterFigures: Equatable, Sendable {
    var storage: StorageStatistics?
    var reload: Reloader.Outcome
    var listeners: Int
    var handshakeFailures: Int?
    var droppedLogLines: Int
    var process: ProcessStatistics?
    /// Second of the monotonic clock at which the figures were taken.
    var second: Int64 = 0

    static let families: [Family<Self>] = [
        Family(
            "airquality_exporter_config_last_reload_successful", .gauge,
            "Whether the last reload of configuration files succeeded."
        ) { $0.reload.isGood ? 1 : 0 },
        Family(
            "airquality_exporter_config_last_reload_success_timestamp_seconds", .gauge,
            "When the configuration files were last loaded, in seconds since the Unix epoch."
        ) { Double($0.reload.succeededAt) / 1000 },
        Family("airquality_exporter_event_listeners", .gauge, "Connected clients of /events.") { Double($0.listeners) },
        Family(
            "airquality_exporter_tls_handshake_failures_total", .counter, "Failed TLS handshakes with HTTP clients."
        ) { $0.handshakeFailures.map { Double($0) } },
        Family(
            "airquality_exporter_log_lines_dropped_total", .counter,
            "Log lines that were dropped because nothing read standard error."
        ) { Double($0.droppedLogLines) },
        Family(
            "airquality_exporter_build_info", .gauge, labels: ["version", "revision", "branch", "swiftversion"],
            "Build information; the value is 1."
        ) { _, add in add([BuildVersion.version, BuildVersion.revision, BuildVersion.branch, BuildVersion.swift], 1) },
    ]
}
