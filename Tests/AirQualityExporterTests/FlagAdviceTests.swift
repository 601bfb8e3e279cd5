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
            ("--disable-exporter-metrics", "--web.disable-exporter-metrics"),
            ("--web.disable-go-metrics", "--web.disable-exporter-metrics"),
            ("--config.file=x", "--feed.file"), ("-c", "--web.config.file"), ("-v", "--log.level debug"),
            ("--verbose", "--log.level debug"), ("-p", "--web.listen-address"), ("--port", "--web.listen-address"),
            ("--dry-run", "--config.check"), ("--storage.path=x", "--storage.file"),
            ("--telemetry.addr=:1", "--web.listen-address"), ("--collector.cpu", "--metrics.families"),
            ("--web.route-prefix=/x", "--web.telemetry-path"), ("--web.external-url=x", "reverse proxy"),
            ("--feed.token=secret", "--feed.header-file"), ("--feed.username=secret", "--feed.url"),
            ("--api-key=secret", "--feed.header-file"), ("--feed.proxy=x", "dialled directly"),
            ("--feed.interval=1s", "--history.interval"), ("--FEED.DEMO", "--feed.demo"),
            ("--log.file=x", "standard error"), ("--daemon", "systemd"),
            ("--collect[]=cpu", "--metrics.families"),
            ("poll", "air-quality-feed"), ("replay", "air-quality-feed"), ("serve", "no command is needed"),
            ("demo", "--feed.demo"), ("config.yml", "--feed.file"), ("http://h/", "ws://host/path"),
            ("--feed-url=ws://h/", "--feed.url"), ("--web_listen_address=:1", "--web.listen-address"),
            ("--retention=30d", "--history.capacity"), ("--pid-file=x", "systemd"),
            ("-V", "--version"), ("--tls-cert=x", "--web.config.file"),
            ("--feed.oauth-token=secret", "--feed.header-file"), ("--scrape-uri=x", "--feed.url"),
            ("--user-agent=x", "--feed.header"), ("--web.enable-tls", "--web.config.file"),
            ("--history-size=9", "--history.capacity"), ("--log.destination=x", "standard error"),
            ("--metrics-addr=:1", "--web.listen-address"), ("--expiry=1h", "--city.expire-after"),
            ("--timeout=5s", "--feed.connect-timeout"), ("--timeout=5s", "not a flag of air-quality-exporter"),
            ("--feed.ca=x", "--feed.ca-file"), ("--feed.client-cert=x", "--feed.cert-file"),
            ("--feed.ws=x", "--feed.url"), ("--moon=full", "expected one that --help lists"),
            ("--feed.filter=x", "--feed.jq"), ("--feed.rate=1", "the feed decides when to send"),
            ("--feed.rate-limit=1", "the feed decides when to send"),
            ("--feed.pollutant=x", "did you mean --feed.pollutants-field"), ("--restart", "use systemctl"),
            ("--sample-config", "--feed.file"), ("--sample", "--feed.demo"),
            ("FEED_URL=ws://x", "did you mean --feed.url=…"), ("-p9090", "--web.listen-address"),
            ("--hostname=x", "--web.listen-address"), ("--feed.hostname=x", "--feed.url"),
            ("--feed.cookie=secret", "--feed.header"), ("--feed.query=secret", "--feed.url"),
            ("--feed.params=secret", "--feed.url"), ("--feed.gzip", "no flag is needed"), ("--job=x", "--feed.name"),
            ("--instance=x", "--feed.name"), ("config.json", "--feed.file"), ("config.toml", "--web.config.file"),
            ("ws.example.com", "--feed.url ws://host/path"),
            ("--web.rate=5", "--web.config.file"), ("--feed.name-field=x", "--feed.city-field"),
            ("--path.procfs=/host/proc", "another exporter"), ("--enable-feature=x", "of Prometheus"),
            ("--once", "probe URL"),
            ("--alertmanager.url=x", "grafana/rules"), ("--prometheus.url=x", "metrics are scraped"),
            ("--unit=us", "--aqi.scale"), ("--queue=9", "--feed.max-message-bytes"),
            ("--ipv6", "--web.listen-address"), ("--reuseport", "--web.systemd-socket"), ("-vvvv", "--log.level debug"),
            ("--protocol=x", "--feed.subprotocol"),
            ("--color=never", "--log.format"), ("--workdir=/x", "WorkingDirectory="), ("--sentry-dsn=x", "the log"),
            ("--no-feed.demo", "--feed.demo=false"), ("--healthcheck", "air-quality-exporter healthcheck"),
            ("--probe", "air-quality-exporter probe URL"), ("-version", "--version"), ("--helpp", "--help"),
            ("/usr/bin/air-quality-exporter", "leave out"), ("sh", "leave out"),
            ("air-quality-feed", "entrypoint"),
            ("", "an empty argument"),
            ("--feed.url ws://me:secret@h/", "do not quote"), ("--feed.url:ws://h/", "expected two"),
            ("--feed.header A: secret", "are one argument"), ("--token secret", "--feed.header-file"),
            ("probe ws://h/", "do not quote"), ("--feed.demo --log.level=debug", "are one argument"),
            ("--storage.file=/x --web.config.file=/y", "contains --web.config.file"),
        ])
    func `A plausible unknown flag or command is answered with what to use instead`(word: String, instead: String) {
        let line = line([word])
        // Whole flags: `--feed.url` is not found in `--feed.urls`.
        let words = [", ", "; ", ": ", "? "].reduce(" \(line) ") { $0.replacing($1, with: " ") }
        #expect(words.contains(" \(instead) "), "\(line)")
        #expect(!line.contains("secret"))
    }

    @Test func `Advice is one line and names flags that exist`() {
        let ofEveryCommand = ["--help", "--version"]
        let own = Set(Program.exporter.commands.flatMap(\.flags).map { "--" + $0.name } + ofEveryCommand)
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
