/// A path of the exporter, except that of the metrics, which a flag sets. ``Exporter/routes()`` has a route for each.
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

    /// Whether it stands for all paths that begin with it.
    var isFolder: Bool { self == .city || self == .assets }

    /// Whether it takes POST requests, if a flag allows them.
    var isLifecycle: Bool { self == .reconnect || self == .reload }

    /// Its description on `/about`; `nil` for files that the page loads.
    var meaning: String? {
        switch self {
        case .list: "the list of all cities"
        case .city: "one city and its chart; append its name"
        case .about: "this page"
        case .history: "the recent points of all cities"
        case .events: "changes as server-sent events"
        case .healthy: "whether the exporter works"
        case .ready: "whether its data is fresh"
        case .reconnect: "POST reconnects all feeds"
        case .reload: "POST reloads the files"
        case .favicon, .assets: nil
        }
    }
}
