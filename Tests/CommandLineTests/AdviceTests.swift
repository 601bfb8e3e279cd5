import Testing

@testable import CommandLine

private let advised = Program(
    name: "sample", summary: "Advises.",
    commands: [
        Command(name: "serve", summary: "Serves.", options: ServeOptions.self),
        Command(name: "play", summary: "Plays.", operands: ["FILE"], options: PlayOptions.self),
    ],
    advice: Advice.rows(
        flags: Array(
            """
            # Flags.
            --config.file -c
                use variables
            --collect* --no-collect*
                there are no collectors
            -V
                use --version
            -k tls* ca no.check
                use a file
            """.utf8),
        others: Array(
            """
            poll
                a command of the other program, other
            *.yml
                there is no file of flags
            """.utf8)))

struct AdviceTests {
    @Test(
        arguments: [
            ("--config.file=x", "use variables"), ("--config_file", "expected one that --help lists"),
            ("-V", "use --version"), ("-k", "use a file"), ("--web.tls-key=x", "use a file"),
            ("--TLScert", "use a file"), ("--feed-ca-file", "use a file"), ("--no-check-certificate", "use a file"),
            ("--cache", "expected one that --help lists"), ("--no-tls.and-check", "use a file"),
            ("--no.longer.check", "use a file"), ("--atls", "expected one that --help lists"),
            ("-c/x", "use variables"), ("-k9", "use a file"), ("--poll", "a command of the other program, other"),
            ("--collector.cpu", "there are no collectors"), ("--no-collector.cpu", "there are no collectors"),
            ("--no-verbose", "did you mean --verbose=false?"), ("--play", "it is a command: sample play FILE [flags]"),
            ("-version", "did you mean --version?"), ("--header=A: b", "did you mean --feed.header?"),
            ("--sub.verbose", "did you mean --verbose?"), ("--FEED.URL=ws://me:pw@h/", "did you mean --feed.url?"),
            ("--feed-idle-timeout=1s", "did you mean --feed.idle-timeout?"),
            ("--feed_url=ws://h/", "did you mean --feed.url?"),
        ])
    func `An unknown flag is answered with what to use instead`(word: String, advice: String) {
        expectLine([word], #"unknown flag "\#(word.prefix { $0 != "=" })": \#(advice)"#)
    }

    @Test(
        arguments: [
            (["--CONFIG.FILE", "x"], #"unknown flag "--CONFIG.FILE": use variables"#),
            (["-config.file", "x"], #"unknown flag "-config.file": use variables"#),
            (["-c", "x"], #"unknown flag "-c": use variables"#),
            (["config.file"], #"unexpected argument "config.file": use variables"#),
            (["config.file=x"], #"unexpected argument "config.file=x": use variables"#),
            (["FEED_URL=ws://h/"], #"unexpected argument "FEED_URL=ws://h/": did you mean --feed.url=…?"#),
            (["URL=ws://h/"], #"unexpected argument "URL=ws://h/": did you mean --feed.url=…?"#),
            (["serve", "play"], #"unexpected argument "play": expected one command"#),
            (
                ["play x"],
                #"unexpected argument "play x": expected separate arguments; do not quote them together"#
            ),
            (["--", "--verbose"], #"unexpected argument "--verbose": flags must come before --"#),
            ([""], #"unexpected argument "": an empty argument: a shell variable may be unset"#),
            (
                ["--listen :1"],
                "--listen and its value are one argument, expected two; do not quote them together"
            ),
            (["--secret abc"], #"unknown flag "--secret": expected one that --help lists"#),
            (["--secret=\u{301}abc"], #"unknown flag "--secret": expected one that --help lists"#),
            (["--listen", ":1 --verbose"], "--listen: the value contains --verbose, expected separate arguments"),
            (["poll"], #"unexpected argument "poll": a command of the other program, other"#),
            (["poll", "--key=secret"], #"unexpected argument "poll": a command of the other program, other"#),
            (["file.yml"], #"unexpected argument "file.yml": there is no file of flags"#),
            (["listen=:1"], #"unexpected argument "listen=:1": did you mean --listen=…?"#),
            (["feed.header=secret"], #"unexpected argument "feed.header=***": did you mean --feed.header=…?"#),
            (["9090"], #"unexpected argument "9090": did you mean --listen=:9090?"#),
            (["localhost:9090"], #"unexpected argument "localhost:9090": did you mean --listen=localhost:9090?"#),
            (["SAMPLE_LISTEN=:1"], #"unexpected argument "SAMPLE_LISTEN=:1": did you mean SAMPLE_LISTEN=… sample?"#),
        ])
    func `An unknown word is answered with what to use instead`(arguments: [String], line: String) {
        expectLine(arguments, line)
    }

    private func expectLine(_ arguments: [String], _ line: String) {
        #expect(throws: FlagError(line)) { try advised.parse(arguments: arguments) }
    }

    @Test func `The error for a missing value names the variable that may have been meant for it`() throws {
        let flags = try parsed([], ["SAMPLE_FEED_ULR": "ws://h/"])
        #expect(
            flags.rejection(of: "feed.url", expected: "an address").line
                == "--feed.url: expected an address; unknown environment variable: SAMPLE_FEED_ULR")
    }
}
