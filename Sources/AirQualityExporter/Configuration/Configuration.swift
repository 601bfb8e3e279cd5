import AirQuality
import CommandLine
import HTTPServer
import JSON
import Logging
import System
import WebConfiguration
import WebSocket

/// All that the flags say, validated.
struct Configuration: Sendable {
    var feeds: [FeedConfiguration]
    /// The simulated feed runs in this process; its address is known once it listens.
    var isDemo: Bool
    /// What all feeds have in common, the address of the first one as a placeholder.
    var format: FeedFormat
    var pauseWhenUnused: Duration
    var cityLimit: Int
    var expireAfter: Duration
    var scale: Scale
    var hysteresis: Double
    var history: HistoryRule
    var storageFile: String?
    var web: WebSettings
    var logLevel: Logger.Level
    var logFormat: LogFormat
    var isCheck: Bool

    struct FeedConfiguration: Sendable {
        /// The `feed` label.
        var label: String
        var address: WebSocketAddress
    }

    /// What every connection to a feed shares.
    struct Connection: Sendable {
        var headers: [HeaderField]
        var headerFile: String?
        var subscriptions: [String]
        var tls: WebSocketTLS
        var connectTimeout, pingInterval, pongTimeout, idleTimeout, reconnectMinimum, reconnectMaximum: Duration
        var maximumMessageBytes: Int
    }
    var connection: Connection

    struct WebSettings: Sendable {
        var listenAddresses: [ListenAddress]
        var usesSystemdSockets: Bool
        var telemetryPath: String
        var configFile: String?
        /// 0 = no limit.
        var maximumRequests: Int
        /// 0 = no events.
        var maximumListeners: Int
        /// Without a slash at its end.
        var grafanaURL: String?
        var corsOrigin: String?
        var isLifecycleEnabled: Bool
        var hasExporterMetrics: Bool
    }

    /// The `feed` label of the embedded feed.
    static let demoLabel = "demo"
}

extension Configuration {
    init(_ flags: ParsedFlags) throws(FlagError) {
        feeds = try Self.feeds(flags)
        isDemo = try flags.isOn(FlagName.feedDemo)
        // The health check needs no feed.
        if feeds.isEmpty && !isDemo && flags.command.name.isEmpty {
            throw FlagError(
                "no feed: give --\(FlagName.feedURL) ADDRESS, or --\(FlagName.feedDemo) for a simulated one")
        }
        connection = try Self.connection(flags, feeds)
        format = try Self.format(flags)
        pauseWhenUnused = try flags.value(FlagName.feedPauseWhenUnused, as: .duration())
        cityLimit = try flags.value(FlagName.cityLimit, as: .integer(in: 1...10_000_000))
        expireAfter = try flags.value(FlagName.cityExpireAfter, as: .duration())
        let scaleName = try flags.value(FlagName.aqiScale, as: .text)
        guard let scale = Scale.all.first(where: { $0.name == scaleName }) else {
            throw flags.refusal(
                of: FlagName.aqiScale, expected: Scale.all.map(\.name).joined(separator: ", or "))
        }
        self.scale = scale
        hysteresis = try flags.value(FlagName.aqiHysteresis, as: .number(in: 0...9999))
        history = HistoryRule(
            capacity: try flags.value(FlagName.historyCapacity, as: .integer(in: 1...10_000)),
            interval: try flags.value(FlagName.historyInterval, as: .duration()).milliseconds,
            keep: try flags.value(FlagName.historyKeep, as: .choice))
        storageFile = try flags.optional(FlagName.storageFile, as: .nonEmptyText)
        web = try Self.web(flags)
        guard let level = Logger.Level(flag: try flags.value(FlagName.logLevel, as: .text)) else {
            throw flags.refusal(of: FlagName.logLevel, expected: "debug, info, warn or error")
        }
        logLevel = level
        logFormat = try flags.value(FlagName.logFormat, as: .choice)
        isCheck = try flags.isOn(FlagName.configCheck)
    }

    private static func feeds(_ flags: ParsedFlags) throws(FlagError) -> [FeedConfiguration] {
        var feeds: [FeedConfiguration] = []
        for text in try flags.values(FlagName.feedURL, as: .text) {
            let address: WebSocketAddress
            do throws(WebSocketAddressError) {
                address = try WebSocketAddress(text)
            } catch {
                throw flags.refusal(
                    of: FlagName.feedURL, text,
                    expected: "a ws:// or wss:// address, such as ws://host:8080/path; \(error.description)")
            }
            guard !feeds.contains(where: { $0.label == address.label }) else {
                throw flags.refusal(
                    of: FlagName.feedURL, text,
                    expected: "feeds with different addresses, not two that are both labelled \"\(address.label)\"")
            }
            feeds.append(FeedConfiguration(label: address.label, address: address))
        }
        return feeds
    }

    private static func connection(
        _ flags: ParsedFlags, _ feeds: [FeedConfiguration]
    ) throws(FlagError) -> Connection {
        var headers: [HeaderField] = []
        for text in try flags.values(FlagName.feedHeader, as: .text) {
            guard let header = HeaderField(text[...]) else {
                throw flags.refusal(of: FlagName.feedHeader, text, expected: "\"Name: value\" on one line")
            }
            headers.append(header)
        }
        var tls = WebSocketTLS()
        tls.caFile = try flags.optional(FlagName.feedCAFile, as: .nonEmptyText)
        tls.certificateFile = try flags.optional(FlagName.feedCertFile, as: .nonEmptyText)
        tls.keyFile = try flags.optional(FlagName.feedKeyFile, as: .nonEmptyText)
        tls.skipsVerification = try flags.isOn(FlagName.feedInsecureSkipVerify)
        if (tls.certificateFile == nil) != (tls.keyFile == nil) {
            let (given, missing) =
                tls.keyFile == nil
                ? (FlagName.feedCertFile, FlagName.feedKeyFile) : (FlagName.feedKeyFile, FlagName.feedCertFile)
            throw flags.refusal(of: given, expected: "--\(missing) with it")
        }
        for name in [FlagName.feedCAFile, FlagName.feedCertFile, FlagName.feedKeyFile] where flags.isGiven(name) {
            let path = try flags.value(name, as: .text)
            do throws(SystemError) {
                _ = try readFile(path, limit: 16 << 20)
            } catch {
                throw flags.refusal(of: name, expected: "a file that can be read: \(error.reason)")
            }
        }
        let minimum = try flags.value(FlagName.feedReconnectMin, as: .duration(in: .milliseconds(1) ... .longest))
        let maximum = try flags.value(FlagName.feedReconnectMax, as: .duration(in: .milliseconds(1) ... .longest))
        guard minimum <= maximum else {
            throw flags.refusal(
                of: FlagName.feedReconnectMin,
                expected: "at most --\(FlagName.feedReconnectMax), which is \(maximum.prometheusText)")
        }
        return Connection(
            headers: headers, headerFile: try flags.optional(FlagName.feedHeaderFile, as: .nonEmptyText),
            subscriptions: try flags.values(FlagName.feedSubscribe, as: .text), tls: tls,
            connectTimeout: try flags.value(
                FlagName.feedConnectTimeout, as: .duration(in: .milliseconds(1) ... .longest)),
            pingInterval: try flags.value(FlagName.feedPingInterval, as: .duration()),
            pongTimeout: try flags.value(FlagName.feedPongTimeout, as: .duration(in: .milliseconds(1) ... .longest)),
            idleTimeout: try flags.value(FlagName.feedIdleTimeout, as: .duration()), reconnectMinimum: minimum,
            reconnectMaximum: maximum,
            maximumMessageBytes: try flags.value(FlagName.feedMaxMessageBytes, as: .bytes(in: 1...(1 << 30))))
    }

    private static func format(_ flags: ParsedFlags) throws(FlagError) -> FeedFormat {
        guard let items = JSONPointer(try flags.value(FlagName.feedItems, as: .text)) else {
            throw flags.refusal(
                of: FlagName.feedItems, expected: "a JSON Pointer (RFC 6901): empty, or \"/\" before each name")
        }
        let city = try flags.value(FlagName.feedCityField, as: .nonEmptyText)
        let value = try flags.value(FlagName.feedValueField, as: .nonEmptyText)
        let time = try flags.value(FlagName.feedTimeField, as: .text)
        for (flag, name, others) in [
            (FlagName.feedValueField, value, [city]), (FlagName.feedTimeField, time, [city, value]),
        ] where others.contains(name) {
            throw flags.refusal(of: flag, expected: "a member that no other flag names")
        }
        let shard = try flags.optional(FlagName.cityShard, as: .shard)
        return FeedFormat(
            items: items, cityField: city, valueField: value, timeField: time.isEmpty ? nil : time,
            shard: shard.map { AirQuality.Shard(index: $0.index, count: $0.count) })
    }

    private static func web(_ flags: ParsedFlags) throws(FlagError) -> WebSettings {
        var addresses: [ListenAddress] = []
        for text in try flags.values(FlagName.webListenAddress, as: .text) {
            do throws(SystemError) {
                addresses.append(try ListenAddress(text))
            } catch {
                throw flags.refusal(
                    of: FlagName.webListenAddress, text, expected: "host:port, [::1]:port, :port or unix:/path")
            }
        }
        let path = try flags.value(FlagName.webTelemetryPath, as: .text)
        let reserved = [
            "/", Routes.historyPath, Routes.healthyPath, Routes.readyPath, Routes.reconnectPath, Routes.reloadPath,
            Routes.eventsPath,
        ]
        guard path.first == "/",
            path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }),
            !reserved.contains(path), !Routes.folders.contains(where: path.hasPrefix)
        else {
            throw flags.refusal(
                of: FlagName.webTelemetryPath,
                expected: "a path that begins with \"/\" and is none of \((reserved + Routes.folders).joined(separator: " "))")
        }
        let origin = try flags.optional(FlagName.webCORSOrigin, as: .nonEmptyText)
        if let origin, !origin.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
            throw flags.refusal(of: FlagName.webCORSOrigin, expected: "an origin such as https://grafana.example, or *")
        }
        var grafana = try flags.optional(FlagName.webGrafanaURL, as: .nonEmptyText)
        if let address = grafana {
            guard address.hasPrefix("http://") || address.hasPrefix("https://"),
                address.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
            else {
                throw flags.refusal(
                    of: FlagName.webGrafanaURL, expected: "an http:// or https:// address without a query")
            }
            if address.hasSuffix("/") { grafana = String(address.dropLast()) }
        }
        return WebSettings(
            listenAddresses: addresses, usesSystemdSockets: try flags.isOn(FlagName.webSystemdSocket),
            telemetryPath: path, configFile: try flags.optional(FlagName.webConfigFile, as: .nonEmptyText),
            maximumRequests: try flags.value(FlagName.webMaxRequests, as: .integer(in: 0...1_000_000)),
            maximumListeners: try flags.value(FlagName.webMaxListeners, as: .integer(in: 0...100_000)),
            grafanaURL: grafana, corsOrigin: origin, isLifecycleEnabled: try flags.isOn(FlagName.webEnableLifecycle),
            hasExporterMetrics: !(try flags.isOn(FlagName.webDisableExporterMetrics)))
    }
}

extension Duration {
    /// Whole milliseconds, as far as 64 bits go.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1000)
        return isTooLarge ? .max : product + attoseconds / 1_000_000_000_000_000
    }

    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}

extension Configuration {
    /// Reads the files that the flags name, as a start would.
    ///
    /// - Throws: one line about the first that is bad.
    func checkFiles() throws(SystemError) {
        if let file = web.configFile { _ = try WebConfiguration(file: file) }
        if case .failure(let error) = connection.headerFields() { throw error }
    }
}
