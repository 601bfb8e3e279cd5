import CommandLine
import System

/// The commands of the program; without one it simulates.
enum FeedCommand: String {
    case simulate, replay, poll, record
}

extension Program {
    /// The `User-Agent` of the requests of a command.
    static func userAgent(of command: String) -> String {
        "air-quality-exporter/\(BuildVersion.version) (air-quality-feed \(command))"
    }

    static let feed = Program(
        name: "air-quality-feed",
        version: "air-quality-feed, version \(BuildVersion.version) (branch: \(BuildVersion.branch), revision: "
            + "\(BuildVersion.revision))\n",
        summary: "Serves a WebSocket feed of Air Quality Index readings, or records one.",
        otherVariables: [PollOptions.keyVariable],
        commands: [
            Command(
                name: FeedCommand.simulate.rawValue,
                summary: "Serves simulated readings: each message is a JSON array of "
                    + "objects with a city and its aqi. Sends only while a client is connected.",
                options: SimulateOptions.self),
            Command(
                name: FeedCommand.replay.rawValue,
                summary:
                    "Serves the contents of a file in a loop, starting with the first client. CSV with the columns "
                    + "City, Date and AQI: all rows of a date are one message. Lines of JSON: each is a message, or "
                    + "a line written by record. From a pipe, or - for standard input, each line is sent as it "
                    + "comes, once.",
                operands: ["FILE"], options: ReplayOptions.self),
            Command(
                name: FeedCommand.poll.rawValue,
                summary: "Serves real air quality data: requests it from an HTTP source, computes the index where the "
                    + "source gives none, and sends changes at once and all values every half minute. A new client "
                    + "gets all values first. A key is read from a file or from \(PollOptions.keyVariable).",
                options: PollOptions.self),
            Command(
                name: FeedCommand.record.rawValue,
                summary:
                    "Writes each message of a feed with its arrival time as a line of JSON, for replay. Reconnects "
                    + "indefinitely.",
                operands: ["URL"], options: RecordOptions.self),
        ],
        advice: Advice.rows(flags: PackageResources.flag_advice_txt, others: PackageResources.command_advice_txt))
}

extension ParsedFlags {
    /// Returns the log of a command, after a warning about variables that match no flag.
    func beginLog(level: Logger.Level = .info, format: LogFormat = .logfmt) -> Logger {
        let logger = Logger(level: level, format: format)
        logUnknownVariables(to: logger)
        return logger
    }
}

extension Flag {
    /// The flag `--listen`, a TCP address for clients.
    static func listen(_ member: any WritableKeyPath<Values, ListenAddress> & Sendable) -> Flag {
        let format = ValueFormat<ListenAddress>(
            "HOST:PORT", expected: "host:port, [address]:port or :port, with a port from 0 to 65535",
            text: \.description
        ) { text in
            let address = ListenAddress(text)
            return if case .tcp = address { address } else { nil }
        }
        return Flag(
            "listen", member, format, "Address for clients; port 0 picks a free one, no host means all addresses.")
    }
}

extension ListenAddress {
    /// The default of `--listen`.
    static let localhost = ListenAddress.tcp(host: "127.0.0.1", port: 8765)
}
