import CommandLine

/// Every flag of the exporter, by its name.
enum FlagName {
    static let feedURL = "feed.url"
    static let feedDemo = "feed.demo"
    static let feedHeader = "feed.header"
    static let feedHeaderFile = "feed.header-file"
    static let feedSubscribe = "feed.subscribe"
    static let feedCAFile = "feed.ca-file"
    static let feedCertFile = "feed.cert-file"
    static let feedKeyFile = "feed.key-file"
    static let feedInsecureSkipVerify = "feed.insecure-skip-verify"
    static let feedConnectTimeout = "feed.connect-timeout"
    static let feedPingInterval = "feed.ping-interval"
    static let feedPongTimeout = "feed.pong-timeout"
    static let feedIdleTimeout = "feed.idle-timeout"
    static let feedReconnectMin = "feed.reconnect-min"
    static let feedReconnectMax = "feed.reconnect-max"
    static let feedPauseWhenUnused = "feed.pause-when-unused"
    static let feedMaxMessageBytes = "feed.max-message-bytes"
    static let feedItems = "feed.items"
    static let feedCityField = "feed.city-field"
    static let feedValueField = "feed.value-field"
    static let feedTimeField = "feed.time-field"
    static let cityLimit = "city.limit"
    static let cityExpireAfter = "city.expire-after"
    static let cityShard = "city.shard"
    static let aqiScale = "aqi.scale"
    static let aqiHysteresis = "aqi.hysteresis"
    static let historyCapacity = "history.capacity"
    static let historyInterval = "history.interval"
    static let historyKeep = "history.keep"
    static let storageFile = "storage.file"
    static let webListenAddress = "web.listen-address"
    static let webSystemdSocket = "web.systemd-socket"
    static let webTelemetryPath = "web.telemetry-path"
    static let webConfigFile = "web.config.file"
    static let webMaxRequests = "web.max-requests"
    static let webMaxListeners = "web.max-listeners"
    static let webGrafanaURL = "web.grafana-url"
    static let webCORSOrigin = "web.cors-origin"
    static let webEnableLifecycle = "web.enable-lifecycle"
    static let webDisableExporterMetrics = "web.disable-exporter-metrics"
    static let logLevel = "log.level"
    static let logFormat = "log.format"
    static let configCheck = "config.check"
}

extension Program {
    /// The exporter's face on the command line.
    static let exporter = Program(
        name: "air-quality-exporter",
        summary: "Consumes a live WebSocket feed of Air Quality Index readings and serves them to Prometheus.",
        environmentPrefix: "AIR_QUALITY_EXPORTER_",
        commands: [
            Command(summary: "Run the exporter.", flags: exporterFlags),
            Command(
                name: "healthcheck",
                summary: "Ask /-/ready of the first listen address of the same configuration; end with status 0 or 1.",
                flags: exporterFlags),
        ])

    static let exporterFlags: [Flag] = feedFlags + cityFlags + webFlags + programFlags

    private static let feedFlags = [
        Flag(
            FlagName.feedURL, "ADDRESS", isRepeatable: true, secrecy: .address, group: "Feed",
            help: "ws:// or wss:// address of a feed; user and password in it become Basic authorization."),
        Flag(
            switch: FlagName.feedDemo, group: "Feed",
            help: "Start the simulated feed inside this process and consume it."),
        Flag(
            FlagName.feedHeader, "NAME: VALUE", isRepeatable: true, secrecy: .whole, group: "Feed",
            help: "Header field for the handshake."),
        Flag(
            FlagName.feedHeaderFile, "FILE", group: "Feed",
            help: "File with header fields for the handshake, one a line; read at each connect."),
        Flag(
            FlagName.feedSubscribe, "TEXT", isRepeatable: true, secrecy: .whole, group: "Feed",
            help: "Text message sent after every connect."),
        Flag(
            FlagName.feedCAFile, "FILE", group: "Feed",
            help: "Certificate authorities for wss://, PEM; without it the system's."),
        Flag(FlagName.feedCertFile, "FILE", group: "Feed", help: "Client certificate for wss://, PEM."),
        Flag(FlagName.feedKeyFile, "FILE", group: "Feed", help: "Key of the client certificate, PEM."),
        Flag(
            switch: FlagName.feedInsecureSkipVerify, group: "Feed",
            help: "Do not verify the feed's certificate."),
        Flag(
            FlagName.feedConnectTimeout, "DURATION", default: "10s", group: "Feed",
            help: "Longest time from dial to finished handshake."),
        Flag(
            FlagName.feedPingInterval, "DURATION", default: "15s", group: "Feed",
            help: "Ping when no byte has arrived for this long; 0 = never."),
        Flag(
            FlagName.feedPongTimeout, "DURATION", default: "10s", group: "Feed",
            help: "Hang up when nothing arrives for this long after a ping."),
        Flag(
            FlagName.feedIdleTimeout, "DURATION", default: "60s", group: "Feed",
            help: "Hang up when no whole message arrives for this long; 0 = never."),
        Flag(
            FlagName.feedReconnectMin, "DURATION", default: "500ms", group: "Feed",
            help: "First bound of the random delay before a reconnect; it doubles with every failure."),
        Flag(
            FlagName.feedReconnectMax, "DURATION", default: "30s", group: "Feed",
            help: "Largest bound of the delay before a reconnect."),
        Flag(
            FlagName.feedPauseWhenUnused, "DURATION", default: "0", group: "Feed",
            help: "Disconnect when nobody has read for this long, connect again at the next read; 0 = never."),
        Flag(
            FlagName.feedMaxMessageBytes, "SIZE", default: "16MiB", group: "Feed",
            help: "Longer messages are dropped and counted."),
        Flag(
            FlagName.feedItems, "POINTER", default: "", group: "Feed",
            help: "JSON Pointer to the array in a message; empty = the message itself."),
        Flag(FlagName.feedCityField, "NAME", default: "city", group: "Feed", help: "Member with the city's name."),
        Flag(FlagName.feedValueField, "NAME", default: "aqi", group: "Feed", help: "Member with the index."),
        Flag(
            FlagName.feedTimeField, "NAME", default: "", group: "Feed",
            help: "Member with the reading's time (RFC 3339, epoch seconds or milliseconds); empty = the arrival."),
    ]

    private static let cityFlags = [
        Flag(
            FlagName.cityLimit, "NUMBER", default: "100000", group: "Cities",
            help: "Cities beyond it are refused and counted."),
        Flag(
            FlagName.cityExpireAfter, "DURATION", default: "0", group: "Cities",
            help: "Drop a city not heard of for this long; 0 = keep for ever."),
        Flag(
            FlagName.cityShard, "I/N", group: "Cities",
            help: "Keep only the cities whose stable hash falls into shard i of n, i from 0 to n-1."),
        Flag(
            FlagName.aqiScale, "NAME", default: "india", group: "Cities",
            help: "india (CPCB), us (EPA 2024) or eu (European AQI)."),
        Flag(
            FlagName.aqiHysteresis, "NUMBER", default: "0", group: "Cities",
            help: "Change a category only when the index is at least this far past the boundary."),
        Flag(
            FlagName.historyCapacity, "NUMBER", default: "25", group: "History",
            help: "Points kept of each city, 1 to 10000."),
        Flag(
            FlagName.historyInterval, "DURATION", default: "30s", group: "History",
            help: "Least time between two kept points; 0 = every reading."),
        Flag(
            FlagName.historyKeep, "RULE", default: "first", group: "History",
            help: "first: a reading is kept at once if the interval has passed; "
                + "last: the last reading of each window of the interval."),
        Flag(
            FlagName.storageFile, "FILE", group: "History",
            help: "SQLite file that keeps readings and history across restarts."),
    ]

    private static let webFlags = [
        Flag(
            FlagName.webListenAddress, "ADDRESS", default: ":10025", isRepeatable: true, group: "Web",
            help: "host:port, [::1]:port, :port or unix:/path to listen on."),
        Flag(
            switch: FlagName.webSystemdSocket, group: "Web",
            help: "Take the sockets that systemd passes instead of --web.listen-address."),
        Flag(
            FlagName.webTelemetryPath, "PATH", default: "/metrics", group: "Web",
            help: "Path of the metrics."),
        Flag(
            FlagName.webConfigFile, "FILE", group: "Web",
            help: "Web configuration of the exporter-toolkit: TLS, basic auth, headers, rate limit."),
        Flag(
            FlagName.webMaxRequests, "NUMBER", default: "40", group: "Web",
            help: "Scrapes served at once; more get 503; 0 = no limit."),
        Flag(
            FlagName.webMaxListeners, "NUMBER", default: "256", group: "Web",
            help: "Listeners of /events at once; more get 503; 0 = no such path."),
        Flag(
            FlagName.webGrafanaURL, "ADDRESS", group: "Web",
            help: "Grafana whose dashboard the page links each city to."),
        Flag(
            FlagName.webCORSOrigin, "ORIGIN", group: "Web",
            help: "Access-Control-Allow-Origin of the JSON paths."),
        Flag(
            switch: FlagName.webEnableLifecycle, group: "Web",
            help: "Allow POST /-/reload and POST /-/reconnect."),
        Flag(
            switch: FlagName.webDisableExporterMetrics, group: "Web",
            help: "Leave out process_* and promhttp_* metrics."),
    ]

    private static let programFlags = [
        Flag(FlagName.logLevel, "LEVEL", default: "info", group: "Program", help: "debug, info, warn or error."),
        Flag(FlagName.logFormat, "FORMAT", default: "logfmt", group: "Program", help: "logfmt or json."),
        Flag(
            switch: FlagName.configCheck, group: "Program",
            help: "Validate everything, print the result and end."),
    ]
}
