import AirQuality
import CommandLine
import Storage
import System
import WebConfiguration

/// The commands of the program by name.
private enum ExporterCommand: String {
    case serve = ""
    case healthcheck, probe
}

/// Runs the command that the flags name, and returns the exit status.
func perform(_ flags: ParsedFlags, signals: Signals) throws -> Int32 {
    switch ExporterCommand(rawValue: flags.command.name) {
    case .probe:
        signals.unblock()
        return try probe(flags)
    case .healthcheck:
        signals.unblock()
        return try healthcheck(flags.options())
    case .serve, nil:
        let configuration = try Configuration(flags)
        if configuration.isCheck { signals.unblock() }
        let feeds = try configuration.configuredFeeds(origin: flags.origin(of: "feed.file"))
        let logger = Logger(level: configuration.logLevel, format: configuration.logFormat)
        if configuration.isCheck { return try check(configuration, feeds, flags, logger) }
        return serve(configuration, feeds, flags, logger, signals)
    }
}

/// `--config.check`: checks the files that the flags name, and changes nothing.
private func check(
    _ configuration: Configuration, _ feeds: [ConfiguredFeed], _ flags: ParsedFlags, _ logger: Logger
) throws -> Int32 {
    if let file = configuration.web.configFile {
        let web = try flags.using(
            "web.config.file", expected: "a valid web configuration", try WebConfiguration(file: file))
        for warning in web.warnings { logger.warning(warning, metadata: ["file": file]) }
    }
    if let file = configuration.storageFile {
        try flags.using("storage.file", expected: "a usable storage file", try StorageFile.check(file))
    }
    flags.logUnknownVariables(to: logger)
    configuration.warn(logger, of: feeds)
    return StandardStream.output.write("configuration is valid\n") ? 0 : 1
}

private func serve(
    _ configuration: Configuration, _ feeds: [ConfiguredFeed], _ flags: ParsedFlags, _ logger: Logger,
    _ signals: Signals
) -> Int32 {
    do {
        try FeedSet.requireResources(forFeeds: feeds.count)
        let exporter = try Exporter(configuration, feeds: feeds, flags: flags, logger: logger)
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
        return try exporter.run(server, signals: signals)
    } catch {
        logger.error("Cannot start", metadata: ["err": "\(error)"])
        // Not `exit`: its destructors could free what the threads that did start still use.
        LogWriter.standardError.flush()
        endProcess(status: 1)
    }
}
