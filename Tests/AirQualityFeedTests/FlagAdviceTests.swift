import Testing

@testable import AirQualityFeed
@testable import CommandLine

struct FlagAdviceTests {
    @Test(
        arguments: [
            ("relay", "there is no relay"), ("--user-agent=x", "expected one that --help lists"),
            ("--username=secret", "--key-file FILE"), ("--test", "--listen 127.0.0.1:0"),
            ("--all", "expected one that --help lists"), ("--cities.file=x", "did you mean --cities"),
            ("check", "--listen 127.0.0.1:0"), ("config", "use variables"), ("cities.yml", "use variables"),
            ("-p9090", "--listen HOST:PORT"), ("--waqi", "--source"), ("completion", "did you mean --completion"),
        ])
    func `A flag or command of common sense is answered with what to use instead`(word: String, instead: String) {
        let error = #expect(throws: FlagError.self) { try Program.feed.parse(arguments: [word]) }
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
                // The exporter's, which a line names as such.
                #expect(own.contains(String(word)) || word == "--feed.url", "\(advice.words): \(word)")
            }
        }
    }
}
