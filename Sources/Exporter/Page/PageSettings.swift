public import AirQuality

/// Settings that all pages of an exporter have in common.
public struct PageSettings: Sendable {
    public var version: String
    public var scale: Scale
    /// Paths of files that every page loads, below the root and without a slash at their beginning. The large icon is
    /// that of a home screen.
    public var styleSheet, script, icon, largeIcon: String
    /// Address without a slash at its end; `nil`: cities have no link to Grafana.
    public var grafanaURL: String?
    /// The paths for programs, in the order in which `/about` lists them.
    public var paths: [(path: String, meaning: String)]
    /// Whether to show a button that reconnects the feeds.
    public var isLifecycleEnabled: Bool

    public init(
        version: String, scale: Scale, styleSheet: String, script: String, icon: String, largeIcon: String,
        grafanaURL: String?, paths: [(path: String, meaning: String)], isLifecycleEnabled: Bool
    ) {
        self.version = version
        self.scale = scale
        self.styleSheet = styleSheet
        self.script = script
        self.icon = icon
        self.largeIcon = largeIcon
        self.grafanaURL = grafanaURL
        self.paths = paths
        self.isLifecycleEnabled = isLifecycleEnabled
    }
}
