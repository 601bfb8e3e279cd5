import AirQuality
import Bytes
import CommandLine
import Exposition
import FeedOptions
import System
import WebSocket

/// All settings from flags. The initial values are the defaults; `flags` maps each flag to its property.
struct Configuration: Sendable {
    /// Feeds named by flags, with distinct labels.
    var feeds: [WebSocketAddress] = []
    /// File with more feeds, which a reload may change.
    var feedFile: String?
    /// Whether the simulated feed runs in this process. Its address is known once it listens.
    var isDemo = false
    /// The settings of all feeds that flags name.
    var feed = FeedSettings()
    /// Zero = never.
    var pauseWhenUnused = Duration.zero

    var cityLimit = 10_000
    /// Zero = never.
    var expireAfter = Duration.seconds(6 * 3600)
    var scale = Scale.india
    var historyCapacity = 25
    var historyInterval = Duration.seconds(30)
    var historyKeep = HistoryRule.Keep.first
    var storageFile: String?

    var web = Web()
    /// Empty = all.
    var cityFamilies: [CityFamilyName] = []
    var logLevel = Logger.Level.info
    var logFormat = LogFormat.logfmt
    var isCheck = false

    struct Web: Sendable {
        var listenAddresses = [ListenAddress.tcp(host: "", port: 10025)]
        var usesSystemdSockets = false
        var telemetryPath = "/metrics"
        var configFile: String?
        /// 0 = no limit.
        var maximumRequests = 40
        var grafanaURL: String?
        var corsOrigin: String?
        var isLifecycleEnabled = false
        var omitsExporterMetrics = false
    }

    static let demoLabel = "demo"
}

extension Configuration {
    /// - Throws: one line about the first value that is invalid, alone or in combination with others.
    init(_ flags: ParsedFlags) throws(FlagError) {
        self = try flags.options()
        if feeds.isEmpty && feedFile == nil && !isDemo {
            throw FlagError(
                "no feed: give --feed.url ADDRESS, or --feed.demo for a simulated one"
                    + flags.misspeltVariables)
        }
        if feed.name != nil, feeds.count != 1 {
            throw flags.rejection(
                of: "feed.name", expected: "exactly one --feed.url; in --feed.file, name each feed")
        }
        if isDemo, feed.name == Self.demoLabel {
            throw flags.rejection(of: "feed.name", expected: "a name other than that of --feed.demo")
        }
        for (index, feed) in feeds.enumerated()
        where feeds[..<index].contains(where: { $0.label == feed.label }) {
            throw flags.rejection(
                of: "feed.url", at: index,
                expected: "different addresses, but two feeds are labelled \"\(feed.label)\"")
        }
        try flags.check(feed.check)
    }

    var storeRules: StoreRules {
        StoreRules(
            scale: scale,
            history: HistoryRule(capacity: historyCapacity, interval: historyInterval.milliseconds, keep: historyKeep),
            cityLimit: cityLimit, expireAfter: expireAfter.milliseconds,
            disconnectReasons: DisconnectReason.allCases.map(\.rawValue))
    }

    /// Whether no flag names a file that a reload could read.
    var namesNoFile: Bool {
        let tls = feed.client.connection.tls
        return [feedFile, web.configFile, feed.client.headerFile, tls.caFile, tls.certificateFile, tls.keyFile]
            .allSatisfy { $0 == nil }
    }
}
