import AirQuality
import CommandLine
import FeedOptions
import Storage
import System
import WebConfiguration
import WebSocket

/// Does what the flags say.
///
/// - Returns: the exit status.
func run(_ flags: ParsedFlags, arguments: [String], signals: Signals) throws -> Int32 {
    if ["probe", "healthcheck"].contains(flags.command.name) { signals.unblock() }
    if flags.command.name == "probe" { return try probe(flags, arguments: arguments) }
    let configuration = try Configuration(flags)
    if flags.command.name == "healthcheck" { return healthcheck(configuration) }
    if configuration.isCheck { signals.unblock() }
    let feeds = try configuration.configuredFeeds(origin: flags.origin(of: "feed.file"))
    if !configuration.isCheck { return serve(configuration, feeds, flags, signals: signals) }
    try check(configuration, feeds, flags)
    return 0
}

private func check(_ configuration: Configuration, _ feeds: [ConfiguredFeed], _ flags: ParsedFlags) throws {
    if let file = configuration.web.configFile { _ = try WebConfiguration(file: file) }
    if let file = configuration.storageFile { try StorageFile.check(file) }
    let logger = Logger(level: configuration.logLevel, format: configuration.logFormat)
    flags.logUnknownVariables(to: logger)
    configuration.warn(logger, of: feeds)
    StandardStream.output.write("configuration is valid\n")
}

private func serve(
    _ configuration: Configuration, _ feeds: [ConfiguredFeed], _ flags: ParsedFlags, signals: Signals
) -> Int32 {
    let logger = Logger(level: configuration.logLevel, format: configuration.logFormat)
    do {
        try FeedSet.requireFiles(forFeeds: feeds.count)
        let exporter = try Exporter(configuration, feeds: feeds, logger: logger, signals: signals)
        let server = try exporter.listen()
        logger.info(
            "Starting air-quality-exporter",
            metadata: [
                "version": BuildVersion.version, "revision": BuildVersion.revision, "scale": configuration.scale.name,
                "feeds": "\(feeds.count + (configuration.isDemo ? 1 : 0))",
                "storage": configuration.storageFile ?? "none",
            ])
        flags.logUnknownVariables(to: logger)
        configuration.warn(logger, of: feeds)
        return try exporter.run(server)
    } catch {
        logger.error("Cannot start", metadata: ["err": "\(error)"])
        return 1
    }
}

extension Configuration {
    /// Logs what is accepted and probably a mistake.
    func warn(_ logger: Logger, of feeds: [ConfiguredFeed]) {
        if isDemo, !feeds.isEmpty {
            logger.warning(
                "Simulated readings are mixed with those of the feeds", metadata: ["flag": "--feed.demo"])
        }
        let unverified = feeds.filter(\.settings.feed.client.tls.skipsVerification)
        if feed.client.tls.skipsVerification || !unverified.isEmpty {
            logger.warning(
                unverified.contains(where: \.address.isSecure)
                    ? "Feed certificates are not verified: anyone on the network path can send readings"
                    : "No feed with this setting is wss://, so there is no certificate to verify",
                metadata: ["flag": "--feed.insecure-skip-verify"])
        }
    }
}

extension BuildVersion {
    /// The output of `--version`, in the form of other exporters.
    static var text: String {
        """
        air-quality-exporter, version \(version) (branch: \(branch), revision: \(revision))
          swift version:    \(swift)
          platform:         linux/\(architecture)

        """
    }

    /// The compiler's version, as far as a program can know it.
    static var swift: String {
        #if compiler(>=6.5)
            "6.5 or later"
        #elseif compiler(>=6.4)
            "6.4"
        #else
            "6.3"
        #endif
    }

    /// As Go names it, because that is what other exporters print.
    private static var architecture: String {
        #if arch(x86_64)
            "amd64"
        #elseif arch(arm64)
            "arm64"
        #else
            "unknown"
        #endif
    }
}
