import Testing

@testable import CommandLine

private let advised = Program(
    name: "sample", summary: "Advises.", environmentPrefix: "SAMPLE_",
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
            (["--config.file=x"], #"unknown flag "--config.file", use variables"#),
            (["--config_file"], #"unknown flag "--config_file", expected one that --help lists"#),
            (["--CONFIG.FILE", "x"], #"unknown flag "--CONFIG.FILE", use variables"#),
            (["-config.file", "x"], #"unknown flag "-config.file", use variables"#),
            (["-c", "x"], #"unknown flag "-c", use variables"#),
            (["-V"], #"unknown flag "-V", use --version"#),
            (["-k"], #"unknown flag "-k", use a file"#),
            (["--web.tls-key=x"], #"unknown flag "--web.tls-key", use a file"#),
            (["--TLScert"], #"unknown flag "--TLScert", use a file"#),
            (["--feed-ca-file"], #"unknown flag "--feed-ca-file", use a file"#),
            (["--no-check-certificate"], #"unknown flag "--no-check-certificate", use a file"#),
            (["--cache"], #"unknown flag "--cache", expected one that --help lists"#),
            (["--no-tls.and-check"], #"unknown flag "--no-tls.and-check", use a file"#),
            (["--no.longer.check"], #"unknown flag "--no.longer.check", use a file"#),
            (["--atls"], #"unknown flag "--atls", expected one that --help lists"#),
            (["-c/x"], #"unknown flag "-c/x", use variables"#), (["-k9"], #"unknown flag "-k9", use a file"#),
            (["--poll"], #"unknown flag "--poll", a command of the other program, other"#),
            (["config.file"], #"unexpected argument "config.file", use variables"#),
            (["config.file=x"], #"unexpected argument "config.file=x", use variables"#),
            (["completion"], #"unexpected argument "completion", did you mean --completion?"#),
            (["FEED_URL=ws://h/"], #"unexpected argument "FEED_URL=ws://h/", did you mean --feed.url=…?"#),
            (["URL=ws://h/"], #"unexpected argument "URL=ws://h/", did you mean --feed.url=…?"#),
            (["--collector.cpu"], #"unknown flag "--collector.cpu", there are no collectors"#),
            (["--no-collector.cpu"], #"unknown flag "--no-collector.cpu", there are no collectors"#),
            (["--no-verbose"], #"unknown flag "--no-verbose", did you mean --verbose=false?"#),
            (["--play"], #"unknown flag "--play", a command: sample play FILE [flags]"#),
            (["serve", "play"], #"unexpected argument "play", expected one command"#),
            (
                ["play x"],
                #"unexpected argument "play x", expected separate words, without quotation marks around them"#
            ),
            (["--", "--verbose"], #"unexpected argument "--verbose", flags stand before --"#),
            ([""], #"unexpected argument "", an empty word: a variable of the shell may have no value"#),
            (
                ["--listen :1"],
                "--listen and what follows it are one word, expected two, without quotation marks around both"
            ),
            (["--secret abc"], #"unknown flag "--secret", expected one that --help lists"#),
            (["--listen", ":1 --verbose"], "--listen: the value has --verbose in it, expected separate words"),
            (["-version"], #"unknown flag "-version", did you mean --version?"#),
            (["--header=A: b"], #"unknown flag "--header", did you mean --feed.header?"#),
            (["--sub.verbose"], #"unknown flag "--sub.verbose", did you mean --verbose?"#),
            (["--FEED.URL=ws://me:pw@h/"], #"unknown flag "--FEED.URL", did you mean --feed.url?"#),
            (["--feed-idle-timeout=1s"], #"unknown flag "--feed-idle-timeout", did you mean --feed.idle-timeout?"#),
            (["--feed_url=ws://h/"], #"unknown flag "--feed_url", did you mean --feed.url?"#),
            (
                ["—feed.header=Authorization: secret"],
                #""—feed.header" begins with a dash that is not "-", did you mean --feed.header?"#
            ),
            (["poll"], #"unexpected argument "poll", a command of the other program, other"#),
            (["poll", "--key=secret"], #"unexpected argument "poll", a command of the other program, other"#),
            (["file.yml"], #"unexpected argument "file.yml", there is no file of flags"#),
            (["listen=:1"], #"unexpected argument "listen=:1", did you mean --listen=…?"#),
            (["feed.header=secret"], #"unexpected argument "feed.header=***", did you mean --feed.header=…?"#),
            (["9090"], #"unexpected argument "9090", did you mean --listen=:9090?"#),
            (["localhost:9090"], #"unexpected argument "localhost:9090", did you mean --listen=localhost:9090?"#),
            (["SAMPLE_LISTEN=:1"], #"unexpected argument "SAMPLE_LISTEN=:1", did you mean SAMPLE_LISTEN=… sample?"#),
        ])
    func `A word that the program does not know is answered with what to use instead`(
        arguments: [String], line: String
    ) {
        let error = #expect(throws: FlagError.self) { try advised.parse(arguments: arguments) }
        #expect(error?.line == line)
    }

    @Test func `A missing value names the variable that may have been meant for it`() throws {
        let flags = try parsed([], ["SAMPLE_FEED_ULR": "ws://h/"])
        #expect(
            flags.rejection(of: "feed.url", expected: "an address").line
                == "--feed.url: expected an address; no flag has the variable SAMPLE_FEED_ULR")
    }
}
