import AirQuality
import CommandLine
import Exposition
import FeedOptions
import WebSocket

extension Configuration: Options {
    static let headings = [
        "feed": "Feed", "city": "Cities", "aqi": "Cities", "history": "History", "storage": "History", "web": "Web",
        "metrics": "Web", "log": "Program", "config": "Program",
    ]

    static let flags = feeds + FeedClientOptions.flags.map { Flag($0, of: \.feed.client, prefix: "feed.") } + others

    private static let feeds: [Flag<Self>] = [
        Flag(
            "feed.url", \.feeds, .feedAddress, secrecy: .address,
            "ws:// or wss:// address of a feed; user and password in it are sent as Basic authentication."),
        Flag(
            "feed.file", \.feedFile, .file,
            "YAML file with a list of feeds, each with url, name and any --feed setting except "
                + "pause-when-unused; reread on reload."),
        Flag(
            "feed.name", \.feed.name, .feedName,
            "Name of a single feed in metrics and pages; by default its address without secrets."),
        Flag("feed.demo", \.isDemo, "Start a simulated feed inside this process and read it."),
    ]

    private static let others: [Flag<Self>] = [
        Flag(
            "feed.pause-when-unused", \.pauseWhenUnused, .duration(),
            "Disconnect after this long without a request for metrics or history, reconnect at the next; 0 disables."),
        Flag(
            "feed.items", \.feed.format.items, .jsonPointer,
            "JSON Pointer to the array in a message; empty = the message itself."),
        Flag(
            "feed.jq", \.feed.program, .program,
            "jq program that turns a message into elements, for shapes the other flags cannot read; not with --feed.items."
        ),
        Flag(
            "feed.city-field", \.feed.format.city, .feedField(),
            "Field with the city's name; this and the following field flags take a name or a JSON Pointer like /data/city."
        ),
        Flag("feed.value-field", \.feed.format.value, .feedField(), "Field with the index."),
        Flag(
            "feed.time-field", \.feed.format.time, .timeField,
            "Field with the reading's time (RFC 3339, epoch seconds or milliseconds), which rejects a reading with an "
                + "unreadable one unless it is the default; empty = the arrival."),
        Flag(
            "feed.time-zone", \.feed.format.timeZone, .zoneOffset,
            "UTC offset of times without one, Z or +05:30; by default such readings get their time of arrival."),
        Flag(
            "feed.pollutants-field", \.feed.format.pollutants, .feedField(orNone: true),
            "Field with an object of concentrations in micrograms per cubic metre; empty = not read."),
        Flag(
            "feed.subindices-field", \.feed.format.subindices, .feedField(orNone: true),
            "Field with an object of the pollutants' sub-indices; empty = not read."),
        Flag(
            "feed.place-field", \.feed.format.place, .feedField(orNone: true),
            "Field with an object of latitude, longitude and country; empty = not read."),
        Flag(
            "city.limit", \.cityLimit, .integer(in: 1...10_000_000),
            "Maximum number of cities; readings of others are rejected and counted."),
        Flag(
            "city.expire-after", \.expireAfter, .duration(),
            "Remove a city after this long without a reading; 0 keeps it indefinitely."),
        Flag(
            "aqi.scale", \.scale, .one(of: Scale.all, named: \.name),
            "india (CPCB), us (EPA 2024) or eu (European AQI)."),
        Flag("history.capacity", \.historyCapacity, .integer(in: 1...10_000), "Points kept per city, 1 to 10000."),
        Flag(
            "history.interval", \.historyInterval, .duration(),
            "Minimum time between two kept points, after a city's first two; 0 keeps every reading."),
        Flag(
            "history.keep", \.historyKeep, .choice, placeholder: "RULE",
            "first: keep a city's first two readings at once, others once the interval has passed; "
                + "last: keep the last reading of each interval."),
        Flag(
            "storage.file", \.storageFile, .file,
            "SQLite file that keeps readings, history, and the feed and place of each city across restarts."),
        Flag(
            "web.listen-address", \.web.listenAddresses, .listenAddress,
            "host:port, [::1]:port, :port or unix:/path to listen on."),
        Flag(
            "web.systemd-socket", \.web.usesSystemdSockets,
            "Use the sockets that systemd passes instead of --web.listen-address."),
        Flag("web.telemetry-path", \.web.telemetryPath, .telemetryPath, "Path of the metrics."),
        Flag(
            "web.config.file", \.web.configFile, .file,
            "Web configuration of the exporter-toolkit: TLS, basic auth, headers, rate limit."),
        Flag(
            "web.max-requests", \.web.maximumRequests, .integer(in: 0...1_000_000),
            "Maximum number of concurrent scrapes, a quarter of them from one address; others get 503; 0 = no limit."),
        Flag(
            "web.grafana-url", \.web.grafanaURL, .grafanaAddress, secrecy: .address,
            "Address of the Grafana instance whose city dashboard the page links to."),
        Flag(
            "web.cors-origin", \.web.corsOrigin, .origin, secrecy: .address,
            "Access-Control-Allow-Origin of the JSON paths."),
        Flag("web.enable-lifecycle", \.web.isLifecycleEnabled, "Allow POST /-/reload and POST /-/reconnect."),
        Flag("web.disable-exporter-metrics", \.web.omitsExporterMetrics, "Leave out process_* and promhttp_* metrics."),
        Flag(
            "metrics.families", \.cityFamilies, .choice, isList: true,
            "City metrics to expose, all by default: \(list(of: CityFamilyName.allCases.map(\.rawValue)))."),
        .logLevel(\.logLevel), .logFormat(\.logFormat),
        Flag("config.check", \.isCheck, "Validate the configuration, print the result and exit."),
    ]
}
