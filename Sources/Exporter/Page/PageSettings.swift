/// Settings that all pages of an exporter have in common.
public struct PageSettings: Sendable {
    let version: String
    /// The folder of the files that every page loads, below the root and without a slash at its beginning.
    let assets: String
    /// Address without a slash at its end; `nil`: cities have no link to Grafana.
    let grafanaURL: String?
    /// The paths of the exporter, in the order in which `/about` lists them.
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
