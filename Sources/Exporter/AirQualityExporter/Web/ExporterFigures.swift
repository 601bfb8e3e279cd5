import Exposition
import HTTPServer

/// Figures of the exporter itself, which may change while the store does not; what does not apply is `nil`.
struct ExporterFigures: Equatable, Sendable {
    var reload: Reloader.Outcome?
    /// Listeners of `/events`.
    var listeners: Int?
    var handshakeFailures: Int?
    var droppedLogLines = 0

    static let families: [Family<Self>] = [
        Family(
            "airquality_exporter_config_last_reload_successful", .gauge,
            "Whether the last reload of configuration files succeeded."
        ) { $0.reload.map { $0.isGood ? 1 : 0 } },
        Family(
            "airquality_exporter_config_last_reload_success_timestamp_seconds", .gauge,
            "When the configuration files were last loaded, in seconds since the Unix epoch."
        ) { $0.reload.map { Double($0.succeededAt) / 1000 } },
        Family("airquality_exporter_event_listeners", .gauge, "Connected clients of /events.") {
            $0.listeners.map { Double($0) }
        },
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

extension HTTPStatistics {
    static let families: [Family<Self>] = [
        Family(
            "promhttp_metric_handler_requests_in_flight", .gauge, "Current number of scrapes being served."
        ) { Double($0.requestsInFlight) },
        Family(
            "promhttp_metric_handler_requests_total", .counter, labels: ["code"],
            "Total number of scrapes by HTTP status code."
        ) { statistics, add in
            for (status, count) in statistics.responses.sorted(by: { $0.key < $1.key }) {
                add([String(status)], Double(count))
            }
        },
    ]
}
