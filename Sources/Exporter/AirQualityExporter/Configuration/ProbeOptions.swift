import CommandLine

/// The flags of `probe`: those of a feed, the scale, and the time-out.
struct ProbeOptions: Options {
    var configuration = Configuration()
    var timeout = Duration.seconds(30)

    static let flags = feedFlags + [Flag("timeout", \.timeout, .timeout, "Wait this long for messages.")]

    /// Flags that would name another feed.
    private static let others: Set = ["feed.url", "feed.file", "feed.demo"]

    private static let feedFlags = Configuration.flags
        .filter { $0.name == "aqi.scale" || ($0.name.hasPrefix("feed.") && !others.contains($0.name)) }
        .map { Flag($0, of: \Self.configuration) }
}
