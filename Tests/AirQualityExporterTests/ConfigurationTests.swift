import AirQuality
import Bytes
import FeedOptions
import HTTPServer
import System
import Testing

@testable import AirQualityExporter
@testable import CommandLine

struct ConfigurationTests {
    private func configuration(_ arguments: [String]) throws(FlagError) -> Configuration {
        guard case .run(let flags) = try Program.exporter.parse(arguments: arguments) else { throw FlagError("no run") }
        return try Configuration(flags)
    }

    private static let address = "expected a ws:// or wss:// address, such as ws://host:8080/path"
    private static let oneFeed = "expected exactly one --feed.url; in --feed.file, name each feed"
    private static let fieldLine = #"expected "Name: value" on one line"#
    private static let pointer = #"expected a JSON Pointer (RFC 6901): empty, or "/" before each name"#
    private static let otherField = "expected a field that no other flag names"
    private static let path =
        #"expected a path that begins with "/", without ? # %, and is none of /history.json /events /-/healthy /-/ready "#
        + "/-/reconnect /-/reload / /about /city/ /favicon.ico /assets/"

    /// Flags after a valid feed, and the error line about them.
    @Test(
        arguments: [
            (
                ["--feed.url=http://me:pw@x/?token=1"],
                #"--feed.url "http://***@x/?***": \#(address); it does not begin with ws:// or wss://; "#
                    + "for JSON over HTTP, air-quality-feed poll --source json serves a feed"
            ),
            (
                ["--feed.url=ws://a/,ws://b/"],
                #"--feed.url "ws://a/,ws://b/": \#(address); it holds two addresses; give each its own flag or line"#
            ),
            (
                ["--feed.url=ws://u:secret@x:80/?k=v"],
                #"--feed.url "ws://***@x:80/?***": expected different addresses, but two "#
                    + #"feeds are labelled "ws://x/""#
            ),
            (
                ["--feed.jq=.", "--feed.items=/data"],
                #"--feed.items "/data": expected --feed.items or --feed.jq, not both"#
            ),
            (
                ["--feed.city-field=data.city"],
                #"--feed.city-field "data.city": expected a name or a JSON Pointer: /data/city for the field in "#
                    + "an object, or /data.city for a name with dots"
            ),
            (["--feed.items=$.data[0].list"], #"--feed.items "$.data[0].list": \#(pointer): /data/0/list?"#),
            (["--feed.items=a.b\r"], #"--feed.items "a.b\r": \#(pointer): /a/b ?"#),
            (["--feed.items=data"], #"--feed.items "data": \#(pointer)"#),
            (["--feed.time-zone=5:30"], #"--feed.time-zone "5:30": expected Z, or an offset from UTC such as +05:30"#),
            (["--feed.url=ws://y/", "--feed.name=x"], #"--feed.name "x": \#(oneFeed)"#),
            (
                ["--feed.demo", "--feed.name=demo"],
                #"--feed.name "demo": expected a name other than that of --feed.demo"#
            ),
            (["--feed.header=no colon"], "--feed.header ***: \(fieldLine)"),
            (["--feed.header=A: b\nC: d"], "--feed.header ***: \(fieldLine)"),
            (["--feed.header='A: b'"], #"--feed.header ***: expected "Name: value" without quotation marks"#),
            ([#"--feed.header="A: b""#], #"--feed.header ***: expected "Name: value" without quotation marks"#),
            (
                ["--feed.reconnect-min=1m"],
                #"--feed.reconnect-min "1m": expected at most --feed.reconnect-max, which is 30s"#
            ),
            (
                ["--feed.max-message-bytes=16MB"],
                #"--feed.max-message-bytes "16MB": expected a size in bytes, or with KiB, MiB or GiB, "#
                    + "1 to 1073741824 bytes"
            ),
            (["--feed.value-field=city"], #"--feed.value-field "city": \#(otherField)"#),
            (["--feed.value-field=/city"], #"--feed.value-field "/city": \#(otherField)"#),
            (["--feed.time-field=aqi"], #"--feed.time-field "aqi": \#(otherField)"#),
            (["--feed.time-field=t", "--feed.pollutants-field=t"], #"--feed.pollutants-field "t": \#(otherField)"#),
            (["--feed.pollutants-field=t", "--feed.place-field=t"], #"--feed.place-field "t": \#(otherField)"#),
            (
                ["--feed.value-field=/data/~2"],
                #"--feed.value-field "/data/~2": expected a name, or a JSON Pointer such as /data/aqi, "#
                    + "in which ~0 stands for ~ and ~1 for /"
            ),
            (["--feed.cert-file=x"], #"--feed.cert-file "x": expected --feed.key-file with it"#),
            (["--feed.key-file=x"], #"--feed.key-file "x": expected --feed.cert-file with it"#),
            (["--city.limit=0"], #"--city.limit "0": expected a whole number, 1 to 10000000"#),
            (
                ["--metrics.families=aqi"],
                #"--metrics.families "aqi": expected index, category, direction, changed, changes, updated, "#
                    + "concentration, subindex or place"
            ),
            (["--storage.file="], #"--storage.file "": expected a file name"#),
            (
                ["--web.cors-origin=https://u:secret@a/"],
                #"--web.cors-origin "https://***@a/": expected an origin such as https://grafana.example, or *"#
            ),
            (
                ["--web.grafana-url=http://"],
                #"--web.grafana-url "http://": expected an http:// or https:// address without a query"#
            ),
            (["--aqi.scale=mars"], #"--aqi.scale "mars": expected india, us or eu"#),
            (["--history.capacity=10001"], #"--history.capacity "10001": expected a whole number, 1 to 10000"#),
            (["--history.keep=all"], #"--history.keep "all": expected first or last"#),
            (
                ["--web.listen-address=10025"],
                #"--web.listen-address "10025": expected host:port, [::1]:port, :port or unix:/path"#
            ),
            (["--web.telemetry-path=metrics"], #"--web.telemetry-path "metrics": \#(path)"#),
            (["--web.telemetry-path=/a%20b"], #"--web.telemetry-path "/a%20b": \#(path)"#),
            (["--web.telemetry-path=/-/ready"], #"--web.telemetry-path "/-/ready": \#(path)"#),
            (["--web.max-requests=-1"], #"--web.max-requests "-1": expected a whole number, 0 to 1000000"#),
            (["--log.level=trace"], #"--log.level "trace": expected debug, info, warn or error"#),
            (["--log.format=xml"], #"--log.format "xml": expected logfmt or json"#),
        ] as [([String], String)])
    func `A mistake is reported with the flag, the value and what was expected`(arguments: [String], line: String) {
        #expect(throws: FlagError(line)) { try configuration(["--feed.url=ws://x/"] + arguments) }
    }

    @Test(arguments: ["https://grafana.example/x", "https://grafana.example/x/"])
    func `Links to Grafana have one slash behind its address`(text: String) throws {
        let web = try configuration(["--feed.demo", "--web.grafana-url", text]).web
        #expect(web.grafanaURL == "https://grafana.example/x")
    }

    @Test func `Each default is parsed as it is shown`() throws {
        let flags = Configuration.flags
        let defaults = flags.map { $0.text(Configuration()) }
        for (flag, text) in zip(flags, defaults) where text != nil && flag.name != "feed.demo" {
            let read = try configuration(["--feed.demo", "--\(flag.name)=\(text ?? "")"])
            #expect(flags.map { $0.name == "feed.demo" ? "false" : $0.text(read) } == defaults, "\(flag.name)")
        }
        #expect(defaults.count { $0 != nil } > 20)
    }

    @Test func `A feed is labelled with its address, or with its configured name`() throws {
        let address = ["--feed.url", "wss://x/v1/a1b2c3d4e5f6a7b8/live"]
        #expect(try configuration(address).configuredFeeds().map(\.label) == ["wss://x/v1/…/live"])
        #expect(try configuration(address + ["--feed.name", "roof"]).configuredFeeds().map(\.label) == ["roof"])
    }
}
