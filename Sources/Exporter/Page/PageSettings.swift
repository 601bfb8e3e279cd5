/// Settings that all pages share.
public struct PageSettings: Sendable {
    let version: String
    /// The folder of the files that every page loads, relative to the root, with a trailing slash.
    let assets: String
    /// Address without a trailing slash; `nil` = no links to Grafana.
    let grafanaURL: String?
    /// The paths of the exporter, in the order of `/about`.
    let paths: [(path: String, isLink: Bool, meaning: String)]
    /// Whether to show a button that reconnects the feeds.
    let isLifecycleEnabled: Bool

    public init(
        version: String, assets: String, grafanaURL: String?, paths: [(path: String, isLink: Bool, meaning: String)],
        isLifecycleEnabled: Bool
    ) {
        self.version = version
        self.assets = assets
        self.grafanaURL = grafanaURL
        self.paths = paths
        self.isLifecycleEnabled = isLifecycleEnabled
    }
}
