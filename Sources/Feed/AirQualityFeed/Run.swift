import CommandLine
import System

/// The program, from its arguments to its exit status.
func run(arguments: [String], signals: Signals) -> Int32 {
    do {
        switch try Program.feed.parse(arguments: arguments, environment: environmentVariables()) {
        case .text(let text): StandardStream.output.write(text)
        case .version: StandardStream.output.write(BuildVersion.text)
        case .run(let flags):
            switch flags.command.name {
            case "replay": try replay(flags, signals: signals)
            case "record": try record(flags, signals: signals)
            case "poll": try poll(flags, signals: signals)
            default: try simulate(flags, signals: signals)
            }
        }
        return 0
    } catch {
        // After the lines that the log has not written yet.
        LogWriter.standardError.append(Array("\(Program.feed.name): \(error)\n".utf8))
        return 1
    }
}

extension BuildVersion {
    /// The output of `--version`.
    static var text: String { "\(Program.feed.name), version \(version) (branch: \(branch), revision: \(revision))\n" }
}

extension ParsedFlags {
    /// The log of a command, which begins with the variables that name no flag.
    func beginLog(level: Logger.Level = .info, format: LogFormat = .logfmt) -> Logger {
        let logger = Logger(level: level, format: format)
        logUnknownVariables(to: logger)
        return logger
    }
}
