import AirQuality
import AirQualityIndex
import AirSources
import CommandLine
import FeedSimulation
import System
import WebSocket

extension Program {
    static let feed = Program(
        name: "air-quality-feed",
        version: BuildVersion.version,
        summary: "Serves a WebSocket feed of Air Quality Index readings, or records one.",
        environmentPrefix: "AIR_QUALITY_FEED_",
        otherVariables: [PollConfiguration.keyVariable],
        commands: [
            Command(
                name: "simulate",
                summary: "Serves made-up readings in the shape of the real feed: each message is a JSON array of "
                    + "objects with a city and its aqi. Sends only while a client is connected.",
                options: SimulateOptions.self),
            Command(
                name: "replay",
                summary:
                    "Serves the contents of a file in a loop, starting with the first client. CSV with the columns "
                    + "City, Date and AQI: all rows of a date are one message. Lines of JSON: each is a message, or "
                    + "a line written by record.",
                operands: [Operand("FILE", .files)], options: ReplayOptions.self),
            Command(
                name: "poll",
                summary: "Serves real air quality data: requests it from an HTTP source, computes the index where the "
                    + "source gives none, and sends changes, and every half minute all values. A new client "
                    + "gets all values first. A key is read from a file or from \(PollConfiguration.keyVariable).",
                options: PollOptions.self),
            Command(
                name: "record",
                summary:
                    "Writes each message of a feed with its arrival time as a line of JSON, for replay. Reconnects "
                    + "indefinitely.",
                operands: ["URL"], options: RecordOptions.self),
        ],
        advice: Advice.feed)
}

struct SimulateOptions: Options {
    var listen = TCPAddress()
    var cities = 12
    var interval = Duration.seconds(2)
    var coverage = 0.6
    var seed: UInt64?
    var drift = 0.0
    var batch = 10_000

    static let flags: [Flag<Self>] = [
        .listen(\.listen),
        Flag(
            "cities", \.cities, .integer(in: 1...FeedSimulator.maximumCityCount), placeholder: "N",
            "Number of cities; the first twelve are those of the real feed."),
        Flag("interval", \.interval, .timeout, "Time between two steps."),
        Flag(
            "coverage", \.coverage, .number(in: 0...1), placeholder: "SHARE",
            "Probability that a step includes a city, 0 to 1."),
        Flag(
            "seed", \.seed, .seed, placeholder: "N",
            "Seed of the generator: the same seed gives the same messages; random by default."),
        Flag(
            "drift", \.drift, .number(in: 0...999), placeholder: "POINTS",
            "Maximum change of a city's mean index at each step."),
        Flag(
            "batch", \.batch, .integer(in: 1...FeedSimulator.maximumCityCount), placeholder: "N",
            "Maximum number of cities in a message; a step may need several messages."),
    ]
}

struct ReplayOptions: Options {
    var listen = TCPAddress()
    var interval = Duration.seconds(2)
    var speed = 1.0
    var isOnce = false

    static let flags: [Flag<Self>] = [
        .listen(\.listen),
        Flag(
            "interval", \.interval, .timeout,
            "Time between messages without a recorded time, and before the file is replayed again."),
        Flag(
            "speed", \.speed, .number(in: 0.001...1_000_000), placeholder: "FACTOR",
            "Factor by which recorded gaps are shortened."),
        Flag("once", \.isOnce, "Close with status 1000 at the end of the file and exit."),
    ]
}

struct PollOptions: Options {
    var listen = TCPAddress()
    var source = SourceName.openMeteo
    /// A file; nil: those of `set`.
    var cities: String?
    var set = CitySet.seeds
    /// Nil: the source's, or India's.
    var index: IndexScale?
    var interval = Duration.seconds(15 * 60)
    var keyFile: String?
    /// Nil: the source's own, and so is the rate.
    var baseURL: String?
    var caFile: String?
    var rate: CallRate?
    var timeout = Duration.seconds(30)
    var webListenAddresses: [ListenAddress] = []
    var logLevel = Logger.Level.info
    var logFormat = LogFormat.logfmt

    static let flags: [Flag<Self>] = [
        .listen(\.listen),
        Flag("source", \.source, .choice, "Where the data comes from: \(names(of: SourceName.self))."),
        Flag("cities", \.cities, .file, "CSV with the columns city, latitude, longitude, optionally id and country."),
        Flag("set", \.set, .choice, "Built-in list of cities: \(names(of: CitySet.self))."),
        Flag(
            "index", \.index, .choice,
            "\(names(of: IndexScale.self)); by default the one that the source gives, else india."),
        Flag("interval", \.interval, .duration(from: .seconds(1)), "Time between two rounds of requests."),
        Flag("key-file", \.keyFile, .file, "File with the source's API key, if it needs one."),
        Flag("base-url", \.baseURL, .origin, secrecy: .address, "Scheme and host of a mirror of the source."),
        Flag("ca-file", \.caFile, .file, "Certificate authorities, PEM; the system's by default."),
        Flag("rate", \.rate, .callRate, "Maximum rate of requests; each source has a default within its limits."),
        Flag("timeout", \.timeout, .timeout, "Maximum time for a complete response."),
        .webListenAddress(\.webListenAddresses), .logLevel(\.logLevel), .logFormat(\.logFormat),
    ]

    private static func names<Choice: CaseIterable & RawRepresentable<String>>(of type: Choice.Type) -> String {
        let names = type.allCases.map(\.rawValue)
        return names.dropLast().joined(separator: ", ") + " or " + names.last!
    }
}

struct RecordOptions: Options {
    var output: String?
    var feed = FeedClientOptions()
    var logLevel = Logger.Level.info
    var logFormat = LogFormat.logfmt

    static let flags: [Flag<Self>] =
        [Flag("output", \.output, .file, "File to append to; standard output by default.")]
        + FeedClientOptions.flags.map { Flag($0, of: \.feed) } + [.logLevel(\.logLevel), .logFormat(\.logFormat)]
}

/// Where clients connect.
struct TCPAddress: Sendable {
    /// Empty = all of the machine's addresses.
    var host = "127.0.0.1"
    /// 0 = a free one.
    var port = 8765
}

extension Flag {
    fileprivate static func listen(_ member: any WritableKeyPath<Values, TCPAddress> & Sendable) -> Flag {
        let format = ValueFormat<TCPAddress>(
            "HOST:PORT", expected: "host:port, [address]:port or :port, with a port from 0 to 65535",
            text: { ListenAddress.tcp(host: $0.host, port: $0.port).description },
            parse: { text in
                guard case .tcp(let host, let port)? = try? ListenAddress(text) else { return nil }
                return TCPAddress(host: host, port: port)
            })
        return Flag(
            "listen", member, format, "Address for clients; port 0 picks a free one, no host means all addresses.")
    }

    fileprivate static func webListenAddress(
        _ member: any WritableKeyPath<Values, [ListenAddress]> & Sendable
    ) -> Flag {
        let format = ValueFormat<ListenAddress>(
            "ADDRESS", expected: "host:port, [::1]:port, :port or unix:/path", text: \.description,
            parse: { try? ListenAddress($0) })
        return Flag("web.listen-address", member, format, "Address for /metrics, /-/healthy and /-/ready.")
    }
}
