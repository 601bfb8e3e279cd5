import CommandLine

/// The flags of `healthcheck`: those of the exporter that it checks, and which state to ask for.
struct HealthcheckOptions: Options {
    var configuration = Configuration()
    /// Whether to ask for fresh readings instead of the process alone.
    var asksForReadiness = false

    static let headings = Configuration.headings
    static let flags =
        [Flag("ready", \.asksForReadiness, "Request /-/ready: fail unless a feed is connected and readings arrive.")]
        + Configuration.flags.map { Flag($0, of: \Self.configuration) }
}
