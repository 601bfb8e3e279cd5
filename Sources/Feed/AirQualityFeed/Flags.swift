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
                    + "objects with a city and its aqi. Speaks while a client is there.",
                options: SimulateOptions.self),
            Command(
                name: "replay",
                summary:
                    "Serves what a file holds, from the first client on, over and over. CSV with the columns City, "
                    + "Date and AQI: all rows of a date are one message. Lines of JSON: each is one message, or what "
                    + "record has written.",
                operands: [Operand("FILE", .files)], options: ReplayOptions.self),
            Command(
                name: "poll",
                summary: "Serves real air: asks an HTTP source for the air of cities, computes their index where the "
                    + "source gives none, and sends what is new; all of it to a new client, and again each half "
                    + "minute. A key is read from a file or from \(PollConfiguration.keyVariable).",
                options: PollOptions.self),
            Command(
                name: "relay",
                summary: "Reads a feed once and serves it to many: whole at /, and the cities of shard i of n at "
                    + "/shard/i/n. A new client gets the last element of each of its cities first. Connects again for "
                    + "ever.",
                operands: ["URL"], options: RelayOptions.self),
            Command(
                name: "record",
                summary: "Writes each message of a feed with its arrival time as a line of JSON, for replay. Connects "
                    + "again for ever.",
                operands: ["URL"], options: RecordOptions.self),
        ])
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
            "how many; the first twelve are those of the real feed"),
        Flag("interval", \.interval, .interval, "from one step to the next"),
        Flag(
            "coverage", \.coverage, .number(in: 0...1), placeholder: "SHARE",
            "probability that a city is in a step, 0 to 1"),
        Flag(
            "seed", \.seed, .seed, placeholder: "N",
            "the same seed gives the same messages; another one each time if not given"),
        Flag(
            "drift", \.drift, .number(in: 0...999), placeholder: "POINTS",
            "how far a city's usual index may move at each step"),
        Flag(
            "batch", \.batch, .integer(in: 1...FeedSimulator.maximumCityCount), placeholder: "N",
            "cities in a message at most; a step may have several"),
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
            "interval", \.interval, .interval,
            "between messages of which no time is recorded, and before the file begins again"),
        Flag(
            "speed", \.speed, .number(in: 0.001...1_000_000), placeholder: "FACTOR",
            "recorded gaps between messages are divided by it"),
        Flag("once", \.isOnce, "at the end of the file close with status 1000 and end"),
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
        Flag("source", \.source, .choice, names(of: SourceName.self)),
        Flag("cities", \.cities, .file, "CSV with the columns city, latitude, longitude, optionally id and country"),
        Flag("set", \.set, .choice, "cities that are built in: " + names(of: CitySet.self)),
        Flag(
            "index", \.index, .choice,
            names(of: IndexScale.self) + "; the one that the source gives, or india, if not given"),
        Flag("interval", \.interval, .duration(from: .seconds(1)), "from one round of questions to the next"),
        Flag("key-file", \.keyFile, .file, "the key of the source, if it wants one"),
        Flag("base-url", \.baseURL, .origin, secrecy: .address, "a mirror of the source: its scheme and host"),
        Flag("ca-file", \.caFile, .file, "certificate authorities in PEM, in place of the system's"),
        Flag("rate", \.rate, .callRate, "calls to the source at most; each has a default within what it allows"),
        Flag("timeout", \.timeout, .duration(from: .milliseconds(1)), "for one answer, from beginning to end"),
        .webListenAddress(\.webListenAddresses), .logLevel(\.logLevel), .logFormat(\.logFormat),
    ]

    private static func names<Choice: CaseIterable & RawRepresentable<String>>(of type: Choice.Type) -> String {
        type.allCases.map(\.rawValue).joined(separator: ", or ")
    }
}

struct RelayOptions: Options {
    var listen = TCPAddress()
    var shards = 1
    var cityField = "city"
    var valueField = "aqi"
    var feed = FeedClientOptions()
    var expireAfter = Duration.zero
    var webListenAddresses: [ListenAddress] = []
    var logLevel = Logger.Level.info
    var logFormat = LogFormat.logfmt

    static let flags: [Flag<Self>] =
        [
            .listen(\.listen),
            Flag(
                "shards", \.shards, .integer(in: 1...10_000), placeholder: "N", "parts that the cities are divided into"
            ),
            Flag("city-field", \.cityField, .nonEmptyText, placeholder: "NAME", "member with the city's name"),
            Flag(
                "value-field", \.valueField, .nonEmptyText, placeholder: "NAME",
                "member with its index: an element without one does not take the place of the last that had one"),
            Flag(
                "expire-after", \.expireAfter, .duration(),
                "tell no new client of a city that the feed has not named for this long; 0 = always tell"),
        ] + FeedClientOptions.flags.map { Flag($0, of: \.feed) } + [
            .webListenAddress(\.webListenAddresses), .logLevel(\.logLevel), .logFormat(\.logFormat),
        ]
}

struct RecordOptions: Options {
    var output: String?
    var feed = FeedClientOptions()
    var logLevel = Logger.Level.info
    var logFormat = LogFormat.logfmt

    static let flags: [Flag<Self>] =
        [Flag("output", \.output, .file, "where lines are appended; standard output if not given")]
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
        Flag(
            "listen", member, .tcpAddress,
            "where clients connect; port 0 takes a free one, no host means all of the machine's addresses")
    }

    fileprivate static func webListenAddress(
        _ member: any WritableKeyPath<Values, [ListenAddress]> & Sendable
    ) -> Flag {
        let format = ValueFormat<ListenAddress>(
            "ADDRESS", expected: "host:port, [::1]:port, :port or unix:/path", text: \.description,
            parse: { try? ListenAddress($0) })
        return Flag("web.listen-address", member, format, "where /metrics, /-/healthy and /-/ready are served")
    }
}

extension ValueFormat<TCPAddress> {
    static var tcpAddress: Self {
        Self(
            "HOST:PORT", expected: "host:port, [address]:port or :port, with a port from 0 to 65535",
            text: { ListenAddress.tcp(host: $0.host, port: $0.port).description },
            parse: { text in
                guard case .tcp(let host, let port)? = try? ListenAddress(text) else { return nil }
                return TCPAddress(host: host, port: port)
            })
    }
}

extension ValueFormat<Duration> {
    /// At least 1 ms, so that the timer loop can still handle signals.
    static var interval: Self { .duration(from: .milliseconds(1)) }
}
