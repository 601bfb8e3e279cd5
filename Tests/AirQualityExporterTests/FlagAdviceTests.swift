import Testing

@testable import AirQualityExporter
@testable import CommandLine

struct FlagAdviceTests {
    private func line(_ arguments: [String]) -> String {
        let error = #expect(throws: FlagError.self) { try Program.exporter.parse(arguments: arguments) }
        return error?.line ?? ""
    }

    @Test(
        arguments: [
            ("--config.file=x", "--feed.file"), ("-c", "--web.config.file"), ("-v", "--log.level debug"),
            ("--verbose", "--log.level debug"), ("-p", "--web.listen-address"), ("--port", "--web.listen-address"),
            ("--dry-run", "--config.check"), ("--storage.path=x", "--storage.file"),
            ("--telemetry.addr=:1", "--web.listen-address"), ("--collector.cpu", "--metrics.families"),
            ("--web.route-prefix=/x", "--web.telemetry-path"), ("--web.external-url=x", "reverse proxy"),
            ("--feed.token=secret", "--feed.header-file"), ("--feed.username=secret", "--feed.url"),
            ("--api-key=secret", "--feed.header-file"), ("--feed.proxy=x", "dialled directly"),
            ("--feed.interval=1s", "--history.interval"), ("--FEED.DEMO", "--feed.demo"),
            ("—feed.demo", "--feed.demo"), ("--log.file=x", "standard error"), ("--daemon", "systemd"),
            ("--web.history-limit=1", "200,000"), ("--collect[]=cpu", "families"),
            ("--aqi.hysteresis=1", "keep_firing_for"), ("--feed.warm-up=1m", "minReadySeconds"),
            ("poll", "air-quality-feed"), ("replay", "air-quality-feed"), ("serve", "no command is needed"),
            ("demo", "--feed.demo"), ("config.yml", "--feed.file"), ("http://h/", "ws://host/path"),
            ("--feed-url=ws://h/", "--feed.url"), ("--web_listen_address=:1", "--web.listen-address"),
            ("--retention=30d", "--history.capacity"), ("--pid-file=x", "systemd"), ("--shards=4", "--city.shard"),
            ("-V", "--version"), ("relay", "--city.shard"), ("--tls-cert=x", "--web.config.file"),
            ("--feed.oauth-token=secret", "--feed.header-file"), ("--scrape-uri=x", "--feed.url"),
            ("--user-agent=x", "--feed.header"), ("--web.enable-tls", "--web.config.file"),
            ("--history-size=9", "--history.capacity"), ("--log.destination=x", "standard error"),
            ("--metrics-addr=:1", "--web.listen-address"), ("--expiry=1h", "--city.expire-after"),
        ])
    func `A flag or command of common sense is answered with what to use instead`(word: String, instead: String) {
        let line = line([word])
        #expect(line.contains(instead), "\(line)")
        #expect(!line.contains("secret"))
    }

    @Test func `Advice is one line and names flags that exist`() {
        let own = Set(Program.exporter.commands.flatMap(\.flags).map { "--" + $0.name } + ["--help", "--version"])
        let ofTheFeed: Set = ["--source", "--url", "--feed.jq", "--feed.name", "--feed.time-zone"]
        for advice in Program.exporter.advice {
            #expect(!advice.text.contains("\n"))
            for word in advice.text.split(whereSeparator: { " ,;()".contains($0) }) where word.hasPrefix("--") {
                let flag = String(word.prefix { $0 != "=" })
                #expect(own.contains(flag) || ofTheFeed.contains(flag), "\(advice.words): \(flag)")
            }
        }
    }
}
