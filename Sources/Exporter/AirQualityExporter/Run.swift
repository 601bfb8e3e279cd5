import AirQuality
import CommandLine
import System
import WebSocket

/// The program, from its arguments to its exit status.
func run(arguments: [String], environment: (String) -> String?, signals: Signals) -> Int32 {
    do throws(FlagError) {
        switch try Program.exporter.parse(arguments: arguments, environment: environment) {
        case .text(let text):
            StandardStream.output.write(text)
            return 0
        case .version:
            StandardStream.output.write(BuildVersion.text)
            return 0
        case .run(let flags):
            let configuration = try Configuration(flags)
            if flags.command.name == "healthcheck" { return healthcheck(configuration) }
            if configuration.isCheck { return check(configuration) }
            return serve(configuration, signals: signals)
        }
    } catch {
        return fail(error.line)
    }
}

/// One line on standard error; the status of a start that failed.
private func fail(_ line: String) -> Int32 {
    StandardStream.error.write("air-quality-exporter: \(line)\n")
    return 1
}

private func check(_ configuration: Configuration) -> Int32 {
    do throws(SystemError) {
        try configuration.checkFiles()
    } catch {
        return fail(error.reason)
    }
    StandardStream.output.write("configuration is valid\n")
    return 0
}

private func serve(_ configuration: Configuration, signals: Signals) -> Int32 {
    let logger = Logger(level: configuration.logLevel, format: configuration.logFormat)
    do {
        let exporter = try Exporter(configuration, logger: logger, signals: signals)
        if configuration.feed.tls.skipsVerification {
            logger.warning(
                "Certificates of feeds are not verified, so their readings can be anybody's",
                metadata: ["flag": "\(Configuration.flag(\.feed.tls.skipsVerification))"])
        }
        return try exporter.run()
    } catch {
        // From here on there is a logger; it is still one line.
        logger.error("Cannot start", metadata: ["err": "\(error)"])
        return 1
    }
}

extension BuildVersion {
    /// What `--version` prints, in the form of other exporters.
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
