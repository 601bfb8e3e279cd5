import Testing

@testable import AirQualityFeed
@testable import CommandLine

struct FlagAdviceTests {
    @Test(arguments: [
        ("simulate", "--listen 127.0.0.1:8765 --cities 12 --interval 2s --coverage 0.6 --drift 0 --batch 10000"),
        ("replay", "--listen 127.0.0.1:8765 --interval 2s --speed 1"),
        ("poll", "--listen 127.0.0.1:8765 --source open-meteo --set seeds --interval 15m --timeout 30s"),
    ])
    func `The defaults are those that people rely on`(name: String, defaults: String) throws {
        let flags = try #require(Program.feed.command(named: name)).flags.filter { !$0.name.hasPrefix("log.") }
        let shown = flags.compactMap { flag in flag.defaultText.map { "--\(flag.name) \($0)" } }
        #expect(shown.joined(separator: " ") == defaults)
    }

    @Test(
        arguments: [
            ("--user-agent=x", "expected one that --help lists"),
            ("--username=secret", "--key-file FILE"), ("--test", "--listen 127.0.0.1:0"),
            ("--all", "expected one that --help lists"), ("--cities.file=x", "did you mean --cities"),
            ("check", "--listen 127.0.0.1:0"), ("config", "use environment variables"),
            ("cities.yml", "use environment variables"),
            ("-p9090", "--listen HOST:PORT"), ("--waqi", "--source"),
            ("record ws://h/ --items /data", "--feed.items"), ("record ws://h/ --city-field=x", "--feed.jq"),
            ("record ws://h/ --feed.header=secret", "did you mean --header"),
            ("record ws://h/ --feed.idle-timeout=5m", "did you mean --idle-timeout"),
            ("record ws://h/ --insecure", "--insecure-skip-verify"), ("record ws://h/ --user=secret", "--header"),
            ("record ws://h/ --append", "--output"), ("record ws://h/ --duration=10s", "timeout 60"),
            ("--replay x.csv", "did you mean --reply"), ("--poll", "air-quality-feed poll"),
            ("poll --pollutants=pm25", "nothing to choose"), ("poll --config.check", "--listen 127.0.0.1:0"),
            ("poll simulate", "expected one command"), ("simulate poll", "expected one command"),
            ("replay x.csv --log.level=debug", "only errors"), ("simulate --count=12", "--cities"),
            ("poll --retries=3", "automatically"), ("/usr/bin/air-quality-feed", "leave out"),
            ("generate", "use simulate"), ("simulator", "use simulate"), ("poll -i 5m", "--interval"),
            ("capture ws://h/", "record URL"), ("scrape", "poll --source"),
            ("import x.csv", "replay FILE"), ("-version", "--version"),
        ])
    func `A plausible unknown flag or command is answered with what to use instead`(line: String, instead: String) {
        let arguments = line.split(separator: " ").map(String.init)
        let error = #expect(throws: FlagError.self) { try Program.feed.parse(arguments: arguments) }
        let line = error?.line ?? ""
        let words = [", ", "; ", ": ", "? "].reduce(" \(line) ") { $0.replacing($1, with: " ") }
        #expect(words.contains(" \(instead) "), "\(line)")
        #expect(!line.contains("secret"))
    }

    @Test func `Advice is one line and names flags that exist`() {
        let own = Set(Program.feed.commands.flatMap(\.flags).map { "--" + $0.name } + ["--help", "--version"])
        for advice in Program.feed.advice {
            #expect(!advice.text.contains("\n"))
            for word in advice.text.split(whereSeparator: { " ,;()".contains($0) }) where word.hasPrefix("--") {
                // The exporter's flags, which the advice names as such.
                let ofTheExporter = ["--feed.url", "--feed.items", "--feed.jq"].contains(word)
                #expect(own.contains(String(word)) || ofTheExporter, "\(advice.words): \(word)")
            }
        }
    }
}
