import CommandLine

/// The flags of `probe`: those of a feed, and the time-out.
struct ProbeOptions: Options {
    var configuration = Configuration()
    var timeout = Duration.seconds(30)

    static let flags = feedFlags + [Flag("timeout", \.timeout, .timeout, "Wait this long for messages.")]

    /// Feed flags that do not apply to a probe.
    private static let others: Set = [
        "feed.url", "feed.file", "feed.demo", "feed.name", "feed.pause-when-unused", "feed.idle-timeout",
        "feed.reconnect-min", "feed.reconnect-max",
    ]

    private static let feedFlags = Configuration.flags
        .filter { $0.name.hasPrefix("feed.") && !others.contains($0.name) }
        .map { Flag($0, of: \Self.configuration) }
}
