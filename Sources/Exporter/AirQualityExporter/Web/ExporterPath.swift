/// A path of the exporter besides that of the metrics, which a flag sets. A new one is a case here and in
/// ``Endpoints/route(to:)``.
enum ExporterPath: String, CaseIterable {
    case history = "/history.json"
    case events = "/events"
    case healthy = "/-/healthy"
    case ready = "/-/ready"
    case reconnect = "/-/reconnect"
    case reload = "/-/reload"
    case list = "/"
    case about = "/about"
    case city = "/city/"
    case favicon = "/favicon.ico"
    case assets = "/assets/"

    static let defaultTelemetryPath = "/metrics"

    /// Whether all paths that begin with it are meant.
    var isFolder: Bool { self == .city || self == .assets }

    /// Its line in the list on `/about`; `nil`: it is not listed.
    var meaning: String? {
        switch self {
        case .history: "the recent points of all cities"
        case .events: "changes as server-sent events"
        case .healthy: "whether the exporter works"
        case .ready: "whether its data is fresh"
        default: nil
        }
    }
}
