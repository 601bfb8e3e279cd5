import AirQualityIndex
import AirSources
import CommandLine
import FeedSimulation
import System

extension Program {
    static let feed = Program(
        name: "air-quality-feed",
        summary: "Serves a WebSocket feed of Air Quality Index readings, or records one.",
        commands: [
            Command(
                name: "simulate",
                summary: "Serves made-up readings in the shape of the real feed: each message is a JSON array of "
                    + "objects with a city and its aqi. Speaks while a client is there.",
                flags: [
                    .listen,
                    Flag("cities", "N", default: "12", help: "how many; the first twelve are those of the real feed"),
                    Flag("interval", "DURATION", default: "2s", help: "from one step to the next"),
                    Flag("coverage", "SHARE", default: "0.6", help: "probability that a city is in a step, 0 to 1"),
                    Flag(
                        "seed", "N", help: "the same seed gives the same messages; another one each time if not given"),
                    Flag("drift", "POINTS", default: "0", help: "how far a city's usual index may move at each step"),
                    Flag("batch", "N", default: "10000", help: "cities in a message at most; a step may have several"),
                ]),
            Command(
                name: "replay",
                summary:
                    "Serves what a file holds, from the first client on, over and over. CSV with the columns City, "
                    + "Date and AQI: all rows of a date are one message. Lines of JSON: each is one message, or what "
                    + "record has written.",
                operands: ["FILE"],
                flags: [
                    .listen,
                    Flag(
                        "interval", "DURATION", default: "2s",
                        help: "between messages of which no time is recorded, and before the file begins again"),
                    Flag("speed", "FACTOR", default: "1", help: "recorded gaps between messages are divided by it"),
                    Flag(switch: "once", help: "at the end of the file close with status 1000 and end"),
                ]),
            Command(
                name: "poll",
                summary: "Serves real air: asks an HTTP source for the air of cities, computes their index where the "
                    + "source gives none, and sends what is new; all of it to a new client, and again each half "
                    + "minute. A key is read from a file or from \(PollConfiguration.keyVariable).",
                flags: [
                    .listen,
                    Flag("source", "NAME", default: "open-meteo", help: choices(of: SourceName.self)),
                    Flag("cities", "FILE", help: "CSV with the columns city, latitude, longitude and perhaps id"),
                    Flag(
                        "set", "NAME", default: "seeds",
                        help: "cities that are built in: " + choices(of: CitySet.self)),
                    Flag("index", "NAME", default: "india", help: choices(of: IndexScale.self)),
                    Flag("interval", "DURATION", default: "15m", help: "from one round of questions to the next"),
                    Flag("key-file", "FILE", help: "the key of the source, if it wants one"),
                    Flag("base-url", "URL", secrecy: .address, help: "a mirror of the source: its scheme and host"),
                    Flag("ca-file", "FILE", help: "certificate authorities in PEM, in place of the system's"),
                    Flag(
                        "rate", "N/DURATION",
                        help: "calls to the source at most; each has a default within what it allows"),
                    Flag("timeout", "DURATION", default: "30s", help: "for one answer, from beginning to end"),
                ]),
            Command(
                name: "record",
                summary: "Writes each message of a feed with its arrival time as a line of JSON, for replay. Connects "
                    + "again for ever.",
                operands: ["URL"],
                flags: [
                    Flag("output", "FILE", help: "where lines are appended; standard output if not given")
                ]),
        ])
}

private func choices<Choice: CaseIterable & RawRepresentable<String> & Sendable>(of type: Choice.Type) -> String {
    ValueFormat<Choice>.choice.expected
}

extension Flag {
    fileprivate static let listen = Flag(
        "listen", "HOST:PORT", default: "127.0.0.1:8765",
        help: "where clients connect; port 0 takes a free one, no host means all of the machine's addresses")
}

extension ValueFormat where Value == (host: String, port: Int) {
    /// A TCP address.
    static var listenAddress: Self {
        Self(expected: "host:port, [address]:port or :port, with a port from 0 to 65535") { text in
            guard case .tcp(let host, let port)? = try? ListenAddress(text) else { return nil }
            return (host, port)
        }
    }
}

extension ValueFormat<Duration> {
    /// Of a timer of ours, which would otherwise leave no time for signals.
    static var interval: Self { .duration(in: .milliseconds(1) ... .longest) }
}
