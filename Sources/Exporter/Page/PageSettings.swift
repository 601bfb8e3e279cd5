public import AirQuality

/// Settings that all pages of an exporter have in common.
public struct PageSettings: Sendable {
    public var version: String
    public var scale: Scale
    public var styleSheet: PageAsset
    public var script: PageAsset
    /// The icon of a tab.
    public var icon: PageAsset
    /// The icon of a home screen.
    public var largeIcon: PageAsset
    /// Address without a slash at its end; `nil`: cities have no link to Grafana.
    public var grafanaURL: String?
    /// The paths for programs, in the order in which `/about` lists them.
    public var paths: [PagePath]
    /// Whether to show a button that reconnects the feeds.
    public var isLifecycleEnabled: Bool

    public init(
        version: String, scale: Scale, styleSheet: PageAsset, script: PageAsset, icon: PageAsset, largeIcon: PageAsset,
        grafanaURL: String?, paths: [PagePath], isLifecycleEnabled: Bool
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

/// A path that `/about` lists.
public struct PagePath: Sendable {
    public var path: String
    public var meaning: String

    public init(path: String, meaning: String) {
        self.path = path
        self.meaning = meaning
    }
}

/// A file that a page loads.
public struct PageAsset: Sendable {
    /// Below the root, without a slash at its beginning.
    public var path: String
    /// Value of the attribute `integrity`, such as `sha256-…`.
    public var integrity: String

    public init(path: String, integrity: String) {
        self.path = path
        self.integrity = integrity
    }
}
