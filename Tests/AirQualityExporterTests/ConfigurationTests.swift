import AirQuality
import Bytes
import FeedOptions
import HTTPServer
import System
import Testing
import WebSocket

@testable import AirQualityExporter
@testable import CommandLine

struct ConfigurationTests {
    private func configuration(
        _ arguments: [String], environment: [String: String] = [:]
    ) throws(FlagError) -> Configuration {
        guard
            case .run(let flags) = try Program.exporter.parse(
                arguments: arguments, environment: environment)
        else { throw FlagError("no run") }
        return try Configuration(flags)
    }

    @Test func `The configuration comes from the environment as well, and the flag wins`() throws {
        let configuration = try configuration(
            ["--history.capacity=7"],
            environment: [
                "AIR_QUALITY_EXPORTER_FEED_URL": "ws://a.example/\nwss://b.example/",
                "AIR_QUALITY_EXPORTER_HISTORY_CAPACITY": "9", "AIR_QUALITY_EXPORTER_WEB_CONFIG_FILE": "web.yml",
                "AIR_QUALITY_EXPORTER_WEB_ENABLE_LIFECYCLE": "true", "AIR_QUALITY_EXPORTER_PORT": "tcp://10.0.0.1:80",
                "AIR_QUALITY_EXPORTER_FEED_PAUSE_WHEN_UNUSED": "1m30s",
            ])
        #expect(configuration.feeds.map(\.label) == ["ws://a.example/", "wss://b.example/"])
        #expect(configuration.historyCapacity == 7)
        #expect(configuration.web.configFile == "web.yml")
        #expect(configuration.web.isLifecycleEnabled)
        #expect(configuration.pauseWhenUnused == .seconds(90))
    }

    struct Mistake: Sendable, CustomTestStringConvertible {
        var arguments: [String]
        var line: String

        var testDescription: String { arguments.joined(separator: " ") }

        /// Behind a feed that is fine.
        init(_ arguments: String..., line: String) {
            self.arguments = ["--feed.url", "ws://x/"] + arguments
            self.line = line
        }

        init(all arguments: [String], line: String) {
            self.arguments = arguments
            self.line = line
        }

        static let all: [Mistake] = [
            Mistake(all: [], line: "no feed: give --feed.url ADDRESS, or --feed.demo for a simulated one"),
            Mistake(
                all: ["--feed.url", "http://me:pw@x/?token=1"],
                line: #"--feed.url "http://***@x/?***": expected a ws:// or wss:// address, such as "#
                    + #"ws://host:8080/path; it does not begin with ws:// or wss://"#),
            Mistake(
                "--feed.url=ws://u:secret@x:80/?k=v",
                line: #"--feed.url "ws://***@x:80/?***": expected feeds with different addresses, not two that "#
                    + #"are both labelled "ws://x/""#),
            Mistake(
                "--feed.jq=.", "--feed.items=/data", line: #"--feed.items "/data": expected no --feed.jq with it"#),
            Mistake(
                all: ["--feed.url", "ws://a/,ws://b/"],
                line: #"--feed.url "ws://a/,ws://b/": expected a ws:// or wss:// address, such as "#
                    + #"ws://host:8080/path; two addresses in one; give each by a flag of its own"#),
            Mistake(
                "--feed.city-field", "data.city",
                line: #"--feed.city-field "data.city": expected a name or a JSON Pointer: /data/city for the field in "#
                    + "an object, or /data.city for a name with dots"),
            Mistake(
                "--feed.items", "$.data[0].list",
                line: #"--feed.items "$.data[0].list": expected a JSON Pointer (RFC 6901): empty, or "/" before each "#
                    + "name: /data/0/list?"),
            Mistake(
                "--feed.time-zone=5:30",
                line: #"--feed.time-zone "5:30": expected Z, or an offset from UTC such as +05:30"#),
            Mistake(
                "--feed.url", "ws://y/", "--feed.name", "x",
                line: #"--feed.name "x": expected one --feed.url with it; in --feed.file each feed has a name"#),
            Mistake("--feed.header", "no colon", line: #"--feed.header ***: expected "Name: value" on one line"#),
            Mistake(
                "--feed.header", "'A: b'", line: #"--feed.header ***: expected "Name: value" without quotation marks"#),
            Mistake("--feed.header", "A: b\nC: d", line: #"--feed.header ***: expected "Name: value" on one line"#),
            Mistake(
                "--feed.idle-timeout=60",
                line:
                    #"--feed.idle-timeout "60": expected a duration such as 500ms, 30s or 1m30s (60 has no unit: 60s?)"#
            ),
            Mistake(
                "--feed.reconnect-min=1m",
                line: #"--feed.reconnect-min "1m": expected at most --feed.reconnect-max, which is 30s"#),
            Mistake(
                "--feed.max-message-bytes=16MB",
                line: #"--feed.max-message-bytes "16MB": expected a size in bytes, or with KiB, MiB or GiB, 1 "#
                    + #"to 1073741824 bytes"#),
            Mistake(
                "--feed.items=data",
                line: #"--feed.items "data": expected a JSON Pointer (RFC 6901): empty, or "/" before each name"#),
            Mistake(
                "--feed.value-field=city",
                line: #"--feed.value-field "city": expected a field that no other flag names"#),
            Mistake(
                "--feed.value-field=/data/~2",
                line: #"--feed.value-field "/data/~2": expected a name, or a JSON Pointer such as /data/aqi, "#
                    + "in which ~0 stands for ~ and ~1 for /"),
            Mistake(
                "--feed.value-field=/city",
                line: #"--feed.value-field "/city": expected a field that no other flag names"#),
            Mistake(
                "--feed.time-field=aqi", line: #"--feed.time-field "aqi": expected a field that no other flag names"#),
            Mistake(
                all: ["--feed.demo", "--feed.time-field=t", "--feed.pollutants-field=t"],
                line: #"--feed.pollutants-field "t": expected a field that no other flag names"#),
            Mistake(
                all: ["--feed.demo", "--feed.pollutants-field=t", "--feed.place-field=t"],
                line: #"--feed.place-field "t": expected a field that no other flag names"#),
            Mistake("--feed.cert-file=x", line: #"--feed.cert-file "x": expected --feed.key-file with it"#),
            Mistake("--feed.key-file=x", line: #"--feed.key-file "x": expected --feed.cert-file with it"#),
            Mistake(
                "--feed.ca-file=/nowhere",
                line: #"--feed.ca-file "/nowhere": expected certificates of authorities in PEM: cannot read "#
                    + #"/nowhere: No such file or directory"#),
            Mistake("--city.limit=0", line: #"--city.limit "0": expected a whole number, 1 to 10000000"#),
            Mistake(
                "--city.shard=3/3",
                line: #"--city.shard "3/3": expected i/n, shard i of n, with i from 0 to n-1, for example 0/4, "#
                    + "or a pod's name for i: exporter-0/4"),
            Mistake(
                "--metrics.families=aqi",
                line: #"--metrics.families "aqi": expected index, category, direction, changed, changes, updated, "#
                    + "concentration, subindex or place"),
            Mistake("--storage.file=", line: #"--storage.file "": expected text that is not empty"#),
            Mistake(
                "--web.cors-origin=a b",
                line: #"--web.cors-origin "a b": expected an origin such as https://grafana.example, or *"#),
            Mistake("--aqi.scale=mars", line: #"--aqi.scale "mars": expected india, us or eu"#),
            Mistake(
                "--history.capacity=10001", line: #"--history.capacity "10001": expected a whole number, 1 to 10000"#),
            Mistake("--history.keep=all", line: #"--history.keep "all": expected first or last"#),
            Mistake(
                "--web.listen-address=10025",
                line: #"--web.listen-address "10025": expected host:port, [::1]:port, :port or unix:/path"#),
            Mistake(
                "--web.telemetry-path=metrics",
                line: #"--web.telemetry-path "metrics": expected a path that begins with "/" and is none of "#
                    + #"/history.json /events /-/healthy /-/ready /-/reconnect /-/reload / /about /city/ /favicon.ico /assets/"#
            ),
            Mistake(
                "--web.telemetry-path=/-/ready",
                line: #"--web.telemetry-path "/-/ready": expected a path that begins with "/" and is none of "#
                    + #"/history.json /events /-/healthy /-/ready /-/reconnect /-/reload / /about /city/ /favicon.ico /assets/"#
            ),
            Mistake("--web.max-requests=-1", line: #"--web.max-requests "-1": expected a whole number, 0 to 1000000"#),
            Mistake("--log.level=trace", line: #"--log.level "trace": expected debug, info, warn or error"#),
            Mistake("--log.format=xml", line: #"--log.format "xml": expected logfmt or json"#),
            Mistake("--web.enable-lifecycle=yes", line: #"--web.enable-lifecycle "yes": expected true or false"#),
        ]
    }

    @Test(arguments: Mistake.all)
    func `A bad configuration is one line with the flag, the value and what was expected`(_ mistake: Mistake) {
        #expect(throws: FlagError(mistake.line)) { try configuration(mistake.arguments) }
        #expect(!mistake.line.contains("secret"))
    }

    @Test(
        arguments: [
            ("0/1", 0, 1), ("3/4", 3, 4), ("air-quality-exporter-2/4", 2, 4), ("b-10/12", 10, 12), ("3-1/4", 1, 4),
        ])
    func `A shard is an index below a count, or a name that ends in one`(text: String, index: Int, count: Int) throws {
        #expect(
            try configuration(["--feed.demo", "--city.shard", text]).format.shard == Shard(index: index, count: count))
    }

    @Test(
        arguments: [
            "", "1", "/", "1/", "/2", "4/4", "0/0", "-1/4", "1/2/3", "a/b", " 0/4", "0 / 4", "0/2147483648",
            "exporter/4",
            "exporter-/4", "exporter-4/4", "exporter-a/4", "exporter0/4", "-0/4",
        ])
    func `A shard is nothing else`(text: String) {
        #expect(
            throws: FlagError(
                "--city.shard \"\(text)\": expected i/n, shard i of n, with i from 0 to n-1, for example 0/4, "
                    + "or a pod's name for i: exporter-0/4")
        ) { try configuration(["--feed.demo", "--city.shard", text]) }
    }

    @Test func `Each default is read as it is shown`() throws {
        let flags = Program.exporter.commands[0].flags
        for flag in flags {
            guard let text = flag.defaultText else { continue }
            let arguments = ["--feed.demo", "--\(flag.name)=\(text)"]
            guard case .run(let given) = try Program.exporter.parse(arguments: arguments) else { continue }
            var expected = Configuration()
            expected.isDemo = true
            let read = try Configuration(given)
            #expect("\(read)" == "\(expected)", "\(flag.name)")
        }
        #expect(flags.count { $0.defaultText != nil } > 20)
    }

    @Test func `A health check needs no feed`() throws {
        #expect(try configuration(["healthcheck", "--web.listen-address=:1"]).feeds.isEmpty)
    }

    @Test(
        arguments: [
            (["--feed.url", "wss://x/v1/a1b2c3d4e5f6a7b8/live"], "wss://x/v1/…/live"),
            (["--feed.url", "wss://x/city-of-new-delhi-live"], "wss://x/city-of-new-delhi-live"),
            (["--feed.url", "ws://x/s", "--feed.name", "roof"], "roof"),
        ])
    func `A feed is named after its address without what may be a token, or as it is told`(
        _ arguments: [String], _ label: String
    ) throws {
        #expect(try configuration(arguments).configuredFeeds().map(\.label) == [label])
    }
}
