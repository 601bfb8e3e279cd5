/// A path of the exporter besides the metrics', which a flag sets. Each has a case here and in ``Exporter/routes()``.
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

    /// Whether all paths that begin with it are meant.
    var isFolder: Bool { self == .city || self == .assets }

    /// Whether it is for POST, where a flag allows it.
    var isLifecycle: Bool { self == .reconnect || self == .reload }

    /// Its line in the list on `/about`; `nil`: it is a file that the page loads.
    var meaning: String? {
        switch self {
        case .list: "the list of all cities"
        case .city: "one city and its chart; its name follows"
        case .about: "this page"
        case .history: "the recent points of all cities"
        case .events: "changes as server-sent events"
        case .healthy: "whether the exporter works"
        case .ready: "whether its data is fresh"
        case .reconnect: "POST reconnects all feeds"
        case .reload: "POST reads the files again"
        case .favicon, .assets: nil
        }
    }
}
