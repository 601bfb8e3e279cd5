import AirQuality
import CommandLine
import Storage
import System
import WebConfiguration

/// Runs the command that the flags specify, and returns the exit status.
func run(_ flags: ParsedFlags, signals: Signals) throws -> Int32 {
    if ["probe", "healthcheck"].contains(flags.command.name) { signals.unblock() }
    if flags.command.name == "probe" { return try probe(flags) }
    if flags.command.name == "healthcheck" { return try healthcheck(flags.options()) }
    let configuration = try Configuration(flags)
    if configuration.isCheck { signals.unblock() }
    let feeds = try configuration.configuredFeeds(origin: flags.origin(of: "feed.file"))
    let logger = Logger(level: configuration.logLevel, format: configuration.logFormat)
    func warn() {
        flags.logUnknownVariables(to: logger)
        configuration.warn(logger, of: feeds)
    }
    if configuration.isCheck {
        if let file = configuration.web.configFile {
            let web = try flags.using(
                "web.config.file", expected: "a valid web configuration", try WebConfiguration(file: file))
            for warning in web.warnings { logger.warning(warning, metadata: ["file": file]) }
        }
        if let file = configuration.storageFile {
            try flags.using("storage.file", expected: "a usable storage file", try StorageFile.check(file))
        }
        warn()
        return StandardStream.output.write("configuration is valid\n") ? 0 : 1
    }
    do {
        try FeedSet.requireFiles(forFeeds: feeds.count)
        let exporter = try Exporter(configuration, feeds: feeds, flags: flags, logger: logger)
        let server = try exporter.listen()
        logger.info(
            "Starting air-quality-exporter",
            metadata: [
                "version": BuildVersion.version, "revision": BuildVersion.revision, "scale": configuration.scale.name,
                "feeds": "\(feeds.count + (configuration.isDemo ? 1 : 0))",
                "storage": configuration.storageFile ?? "none",
            ])
        warn()
        return try exporter.run(server, signals: signals)
    } catch {
        logger.error("Cannot start", metadata: ["err": "\(error)"])
        return 1
    }
}
