import AirSources
import CommandLine

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
