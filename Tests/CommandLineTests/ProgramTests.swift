import System
import Testing

@testable import CommandLine

/// A program with one flag of each kind.
let sample = Program(
    name: "sample", version: "sample, version 1\n", summary: "Shows what a table can say.",
    commands: [
        Command(name: "serve", summary: "Serves.", options: ServeOptions.self),
        Command(name: "play", summary: "Plays a file.", operands: ["FILE"], options: PlayOptions.self),
    ])

struct ServeOptions: Options, Equatable {
    var listen = "127.0.0.1:80"
    var isVerbose = false
    var feed = Feed()

    struct Feed: Equatable {
        var urls: [String] = []
        var headers = ["Accept: */*"]
        var idleTimeout = Duration.seconds(60)
        var limit: Int?
    }

    static let headings = ["feed": "Feed"]
    static let flags: [Flag<Self>] = [
        Flag("listen", \.listen, .text, placeholder: "HOST:PORT", "where to listen"),
        Flag("feed.url", \.feed.urls, .text, placeholder: "ADDRESS", secrecy: .address, "what to read"),
        Flag("feed.header", \.feed.headers, .text, placeholder: "NAME:VALUE", secrecy: .whole, "sent along"),
        Flag("feed.idle-timeout", \.feed.idleTimeout, .duration(), "hang up after it"),
        Flag("feed.limit", \.feed.limit, .integer(in: 1...9), "no more than that"),
        Flag("verbose", \.isVerbose, "say more"),
    ]
}

struct PlayOptions: Options {
    var isOnce = false
    var listen: String?

    static let flags: [Flag<Self>] = [
        Flag("once", \.isOnce, "end at the end"),
        Flag("listen", \.listen, .text, placeholder: "HOST:PORT", "where to listen"),
    ]
}

func parsed(_ arguments: [String], _ environment: [String: String] = [:]) throws -> ParsedFlags {
    guard case .run(let flags) = try sample.parse(arguments: arguments, environment: environment) else {
        throw FlagError("nothing to run")
    }
    return flags
}

/// The text that the program prints instead of running.
func printed(_ arguments: [String]) throws -> String {
    guard case .text(let text) = try sample.parse(arguments: arguments) else { throw FlagError("nothing is printed") }
    return text
}

func served(_ arguments: [String], _ environment: [String: String] = [:]) throws -> ServeOptions {
    try parsed(arguments, environment).options()
}

struct ParsingTests {
    @Test func `A value may follow its flag as the next word or after an equals sign`() throws {
        for arguments in [["--listen", ":1"], ["--listen=:1"]] { #expect(try served(arguments).listen == ":1") }
        #expect(try served(["--feed.url=ws://h/?a=b"]).feed.urls == ["ws://h/?a=b"])
        #expect(try served(["--listen="]).listen == "")
        #expect(try served(["--feed.url", "-5"]).feed.urls == ["-5"])
    }

    @Test(
        arguments: [
            ([], [:], false),
            (["--verbose"], [:], true),
            (["--verbose=true"], [:], true),
            (["--verbose=false"], ["SAMPLE_VERBOSE": "true"], false),
            (["--verbose", "false"], [:], false),
            (["--verbose", "true"], [:], true),
            (["--verbose", "--verbose"], [:], true),
            (["--verbose=TRUE"], [:], true),
            ([], ["SAMPLE_VERBOSE": "true"], true),
            ([], ["SAMPLE_VERBOSE": "false"], false),
            ([], ["SAMPLE_VERBOSE": ""], false),
        ] as [([String], [String: String], Bool)])
    func `A switch is on, off or absent`(arguments: [String], environment: [String: String], isOn: Bool) throws {
        #expect(try served(arguments, environment).isVerbose == isOn)
    }

    @Test func `Defaults apply to flags that are not given, and given values replace them`() throws {
        #expect(try served([]) == ServeOptions())
        #expect(try !parsed([]).isGiven("listen"))
        #expect(try parsed(["--listen=127.0.0.1:80"]).isGiven("listen"))
        #expect(try served(["--feed.limit=7"]).feed.limit == 7)
        #expect(try served(["--feed.header=a", "--feed.header=b"]).feed.headers == ["a", "b"])
    }

    @Test func `A flag overrides its variable`() throws {
        let environment = ["SAMPLE_FEED_IDLE_TIMEOUT": "5s", "SAMPLE_PORT_80_TCP": "tcp://10.0.0.1:80", "OTHER": "x"]
        #expect(try served([], environment).feed.idleTimeout == .seconds(5))
        #expect(try parsed([], environment).isGiven("feed.idle-timeout"))
        #expect(try served(["--feed.idle-timeout=7s"], environment).feed.idleTimeout == .seconds(7))
    }

    @Test func `Repeated flags keep their order, and variables separate values by line breaks`() throws {
        #expect(try served(["--feed.url=a", "--feed.url", "b"]).feed.urls == ["a", "b"])
        #expect(try served([], ["SAMPLE_FEED_URL": "a\nb\n"]).feed.urls == ["a", "b"])
        #expect(try served([], ["SAMPLE_FEED_URL": "a\r\nb\r\n"]).feed.urls == ["a", "b"])
        #expect(try served([], ["SAMPLE_FEED_URL": "\n"]).feed.urls == served([]).feed.urls)
        #expect(!(try parsed([], ["SAMPLE_FEED_URL": "\n"]).isGiven("feed.url")))
    }

    @Test func `Variables that look like flags but are not are found, except those of Kubernetes`() throws {
        let names = [
            "SAMPLE_FEED_ULR", "SAMPLE_X", "SAMPLE_FEED_URL", "SAMPLE_ONCE", "SAMPLE_PORT", "SAMPLE_PORT_80_TCP",
            "SAMPLE_SERVICE_HOST", "SAMPLE_METRICS_SERVICE_PORT_HTTP", "SAMPLER", "SAMPLERS_X",
            "OTHER", "sample_feed_url", "Sample_Once", "SAM_PLE_LISTEN",
        ]
        let environment = Dictionary(uniqueKeysWithValues: names.map { ($0, "") })
        #expect(
            try parsed([], environment).unknownVariables
                == ["SAMPLE_FEED_ULR", "SAMPLE_X", "SAM_PLE_LISTEN", "Sample_Once", "sample_feed_url"])
    }

    @Test func `The first word that is not a flag selects the command`() throws {
        #expect(try parsed([]).command.name == "serve")
        #expect(try parsed(["serve"]).command.name == "serve")
        let play = try parsed(["--once", "play", "file.csv"])
        #expect(play.command.name == "play")
        #expect(play.operands == ["file.csv"])
        let options: PlayOptions = try play.options()
        #expect(options.isOnce)
        #expect(options.listen == nil)
        #expect(try parsed(["play", "--", "--once"]).operands == ["--once"])
        #expect(try parsed(["play", "-"]).operands == ["-"])
    }

    @Test(arguments: [["--help"], ["--nonsense", "--help"], ["-h"], ["--version", "--help"], ["help"]])
    func `Help takes precedence over everything`(arguments: [String]) throws {
        #expect(try printed(arguments).hasPrefix("usage: sample [serve] [flags]\n       sample play FILE [flags]\n"))
    }

    @Test func `The version is printed for its flag and for its command`() throws {
        for word in ["--version", "version"] { #expect(try printed([word]) == "sample, version 1\n") }
        #expect(throws: FlagError.self) { try parsed(["play", "--", "x", "--version"]) }
    }
}

struct HelpTests {
    @Test func `Help shows groups, defaults and variables`() {
        #expect(
            sample.helpText() == """
                usage: sample [serve] [flags]
                       sample play FILE [flags]

                Shows what a table can say.

                Commands (each has its own --help):
                  serve
                      Serves.
                  play
                      Plays a file.

                Flags:
                  --listen=HOST:PORT
                      where to listen (default 127.0.0.1:80)
                  --verbose
                      say more

                Feed:
                  --feed.url=ADDRESS
                      what to read (repeatable)
                  --feed.header=NAME:VALUE
                      sent along (default Accept: */*, repeatable)
                  --feed.idle-timeout=DURATION
                      hang up after it (default 1m)
                  --feed.limit=NUMBER
                      no more than that

                  --help
                      Print this help, or that of the named command.
                  --version
                      Print the version.

                Each of the other flags is also an environment variable: SAMPLE_ and the flag in
                capitals with . and - as _, for example SAMPLE_LISTEN. The flag wins. Values of
                repeatable flags are separated by line breaks; switches are true or false.

                """)
    }

    @Test func `Help for one command shows only that command`() throws {
        for words in [["play", "--help"], ["help", "play"], ["--help", "play"], ["-h", "play"]] {
            let text = try printed(words)
            #expect(text.hasPrefix("usage: sample play FILE [flags]\n\nPlays a file.\n\nFlags:\n  --once\n"))
            #expect(!text.contains("--verbose"))
        }
    }
}

struct MistakeTests {
    private static let missing = "the value is missing, expected"
    private static let duration = "expected a duration such as 500ms, 30s or 1m30s"
    private static let usage = "expected: sample play FILE [flags]"

    /// The words of a command line, and the error that they cause.
    static let all: [([String], String)] = [
        (["--lisen=:1"], unknown("--lisen", "did you mean --listen?")),
        (["--feed.ulr=ws://me:pw@h/"], unknown("--feed.ulr", "did you mean --feed.url?")),
        (["--nonsense"], unknown("--nonsense")), (["-x"], unknown("-x")), (["--bad\nflag"], unknown("--bad")),
        (["--b\u{7}d"], unknown(#"--b\u{7}d"#)), (["--hang"], unknown("--hang")),
        (["--feed.line"], unknown("--feed.line")), (["--feed.ca"], unknown("--feed.ca")),
        (["--limits"], unknown("--limits")),
        (["-listen", ":1"], unknown("-listen", "did you mean --listen?")),
        (["--url=ws://me:pw@h/"], unknown("--url", "did you mean --feed.url?")),
        (["--idle=1s"], unknown("--idle", "did you mean --feed.idle-timeout?")),
        (["--feed"], unknown("--feed", "did you mean --feed.url or --feed.header or --feed.idle-timeout?")),
        (["--feed.head"], unknown("--feed.head", "did you mean --feed.header?")),
        (["--listen.address"], unknown("--listen.address", "did you mean --listen?")),
        (["--feed.idel-timeuot"], unknown("--feed.idel-timeuot", "did you mean --feed.idle-timeout?")),
        (["play", "--onec"], unknown("--onec", "did you mean --once?")),
        (["pla"], #"unexpected argument "pla": did you mean play?"#),
        (["srve"], #"unexpected argument "srve": did you mean serve?"#),
        (["--listen"], "--listen: \(missing) --listen=HOST:PORT"),
        (["--listen", "--verbose"], "--listen: \(missing) --listen=HOST:PORT"),
        (["--listen=a", "--listen", "b"], #"--listen "b": given twice, expected once"#),
        (["--feed.idle-timeout", "60"], #"--feed.idle-timeout "60": \#(duration) (60 has no unit: 60s?)"#),
        (["--feed.idle-timeout", "5 minutes"], #"--feed.idle-timeout "5 minutes": \#(duration)"#),
        (["--verbose=yes"], #"--verbose "yes": expected true or false"#),
        (["--feed.limit=10"], #"--feed.limit "10": expected a whole number, 1 to 9"#),
        (["--once"], "--once: not a flag of serve, only of play"),
        (["play", "f", "--verbose"], "--verbose: not a flag of play, only of serve"),
        (["play", "--feed.limit=1"], "--feed.limit: not a flag of play, which takes FILE as an argument, \(usage)"),
        (["play"], "FILE is missing, \(usage)"), (["play", "a", "b"], #"unexpected argument "b": \#(usage)"#),
        (
            ["ws://me:pw@host/?key=1"],
            #"unexpected argument "ws://***@host/?***": did you mean --feed.url "ws://***@host/?***"?"#
        ),
        (
            ["--feed.header", "Authorization:", "Bearer", "secret"],
            "unexpected argument ***: expected: sample [serve] [flags]"
        ),
        (["--feed.header", "X-Key:", "-secret"], "unexpected argument ***: expected: sample [serve] [flags]"),
    ]

    private static func unknown(_ flag: String, _ advice: String = "expected one that --help lists") -> String {
        #"unknown flag "\#(flag)": \#(advice)"#
    }

    @Test(arguments: all) func `A mistake is reported on one line`(arguments: [String], line: String) {
        expectMistake(arguments, line: line)
    }

    @Test(
        arguments: [
            ([], "SAMPLE_VERBOSE", "1", #"SAMPLE_VERBOSE "1": expected true or false"#),
            ([], "SAMPLE_FEED_IDLE_TIMEOUT", "x", #"SAMPLE_FEED_IDLE_TIMEOUT "x": \#(duration)"#),
            (
                [], "SAMPLE_FEED_IDLE_TIMEOUT", "\"5s\"",
                #"SAMPLE_FEED_IDLE_TIMEOUT "\"5s\"": \#(duration); the quotation marks are part of the value"#
            ),
            ([], "SAMPLE_FEED_LIMIT", "'1", #"SAMPLE_FEED_LIMIT "'1": expected a whole number, 1 to 9"#),
            (["play"], "SAMPLE_FILE", "x", "FILE is missing, \(usage); unknown environment variable: SAMPLE_FILE"),
        ] as [([String], String, String, String)])
    func `An error in a variable names it`(arguments: [String], variable: String, value: String, line: String) {
        expectMistake(arguments, [variable: value], line: line)
    }

    private func expectMistake(_ arguments: [String], _ environment: [String: String] = [:], line: String) {
        #expect(throws: FlagError(line)) {
            let flags = try parsed(arguments, environment)
            if flags.command.name == "serve" { _ = try flags.options(ServeOptions.self) }
        }
    }
}

struct RejectionTests {
    @Test func `A rejection masks secrets`() throws {
        let flags = try parsed([
            "--feed.header=Authorization: Bearer abc", "--feed.url=ws://me:pw@host/path?token=1", "--verbose",
        ])
        for (name, shown) in [
            ("feed.header", "--feed.header ***"), ("feed.url", #"--feed.url "ws://***@host/path?***""#),
            ("verbose", "--verbose"), ("listen", #"--listen "127.0.0.1:80""#), ("feed.limit", "--feed.limit"),
        ] { #expect(flags.rejection(of: name, expected: "a port").line == shown + ": expected a port") }
    }

    @Test func `An error in using a value is reported for its flag`() throws {
        func read(_ reason: String?) throws(SystemError) -> Int {
            if let reason { throw SystemError(.file, reason) }
            return 7
        }
        let flags = try parsed(["--listen=/x"])
        #expect(try flags.using("listen", expected: "a file", try read(nil)) == 7)
        #expect(throws: FlagError(#"--listen "/x": expected a file: it is gone"#)) {
            try flags.using("listen", expected: "a file", try read("it is gone"))
        }
    }

    @Test func `A rejection shows the value at the given position`() throws {
        let flags = try parsed([], ["SAMPLE_FEED_URL": "a\nb\nc"])
        let error = flags.rejection(of: "feed.url", at: 1, expected: "another")
        #expect(error.line == #"SAMPLE_FEED_URL "b": expected another"#)
    }
}
