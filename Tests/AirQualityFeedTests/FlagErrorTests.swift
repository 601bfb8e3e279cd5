import TestSupport
import Testing

private struct BadCommandLine: Sendable, CustomTestStringConvertible {
    var arguments: [String]
    var line: String
    var testDescription: String { arguments.joined(separator: " ") }

    init(_ arguments: String..., line: String) {
        self.arguments = arguments
        self.line = line
    }

    /// The wording of formats stands in the tests of CommandLine.
    static let all = [
        BadCommandLine(
            "--listen=8765",
            line: #"--listen "8765": expected host:port, [address]:port or :port, with a port from 0 to 65535"#),
        BadCommandLine(
            "--listen=127.0.0.1:65536",
            line:
                #"--listen "127.0.0.1:65536": expected host:port, [address]:port or :port, with a port from 0 to 65535"#
        ),
        BadCommandLine(
            "--listen=unix:/tmp/feed",
            line:
                #"--listen "unix:/tmp/feed": expected host:port, [address]:port or :port, with a port from 0 to 65535"#),
        BadCommandLine("--cities=0", line: #"--cities "0": expected a whole number, 1 to 1000000"#),
        BadCommandLine("--once", line: "--once: not a flag of simulate, only of replay"),
        BadCommandLine("replay", "a", "--seed=1", line: "--seed: not a flag of replay, only of simulate"),
        BadCommandLine(
            "replay", "/no/file",
            line: #"FILE "/no/file": expected CSV with City, Date and AQI, or lines of JSON: cannot read /no/file: "#
                + "No such file or directory"),
        BadCommandLine(
            "record", "ws://h/", "--header=Host: secret",
            line: "--header ***: expected no header Host, which the handshake sets itself"),
        BadCommandLine(
            "record", "http://me:secret@host/?key=secret",
            line:
                #"URL "http://***@host/?***": it does not begin with ws:// or wss://, expected ws://host:port/path or wss://host:port/path"#
        ),
        BadCommandLine(
            "record", "ws://h/", "--output=/no/file",
            line: #"--output "/no/file": expected a file to append to: cannot write /no/file: "#
                + "No such file or directory"),
        BadCommandLine(
            "poll", "--source=iqair",
            line: #"--source "iqair": expected open-meteo, waqi, openaq, cpcb or json"#),
        BadCommandLine("poll", "--index=uk", line: #"--index "uk": expected india, us or eu"#),
        BadCommandLine("poll", "--set=europe", line: #"--set "europe": expected seeds, india or capitals"#),
        BadCommandLine(
            "poll", "--cities=/no/file",
            line: #"--cities "/no/file": expected CSV with city,latitude,longitude: cannot read /no/file: "#
                + "No such file or directory"),
        BadCommandLine(
            "poll", "--source=waqi", "--index=india", line: #"--index "india": expected us, the index that waqi gives"#),
        BadCommandLine(
            "poll", "--source=cpcb", "--index=us", line: #"--index "us": expected india, the index that cpcb gives"#),
        BadCommandLine(
            "poll", "--source=openaq",
            line: "--key-file: expected a file with the key for openaq, or the key in AIR_QUALITY_FEED_KEY"),
        BadCommandLine(
            "poll", "--source=openaq", "--key-file=/dev/null",
            line: #"--key-file "/dev/null": expected a file with the key alone, without name, quotes or brackets: "#
                + "at most 256 letters, digits and -_.+/, = only at the end: cannot read /dev/null: "
                + "it is not a regular file"),
        BadCommandLine(
            "poll", "--rate=60",
            line: #"--rate "60": expected N/DURATION, at most N calls in any DURATION, for example 60/1m"#),
        BadCommandLine(
            "poll", "--base-url=http://me:secret@host/?key=secret",
            line:
                #"--base-url "http://***@host/?***": expected http:// or https:// and a host, without user, path and query"#
        ),
        BadCommandLine(
            "poll", "--ca-file=/no/file",
            line: #"--ca-file "/no/file": expected certificates of authorities in PEM: cannot read /no/file: "#
                + "No such file or directory"),
        BadCommandLine(
            "poll", "--key=secret",
            line: #"unknown flag "--key", use --key-file FILE or the variable AIR_QUALITY_FEED_KEY; "#
                + "record has --header 'Name: value'"),
    ]
}

struct FlagErrorTests {
    @Test(arguments: BadCommandLine.all)
    private func `A mistake is one line on standard error and status 1`(scenario: BadCommandLine) throws {
        let program = try RunningProgram("air-quality-feed", scenario.arguments)
        #expect(program.waitForEnd() == 1)
        #expect(program.errors == ["air-quality-feed: " + scenario.line])
        #expect(program.output.isEmpty)
    }

    @Test func `A key that is none is rejected by the name of its file, and never shown`() throws {
        let file = try TemporaryFile("API_KEY_2=secret\n")
        let program = try RunningProgram("air-quality-feed", ["poll", "--source=waqi", "--key-file", file.path])
        #expect(program.waitForEnd() == 1)
        #expect(
            program.errors == [
                "air-quality-feed: --key-file \"\(file.path)\": expected a file with the key alone, without name, "
                    + "quotes or brackets: at most 256 letters, digits and -_.+/, = only at the end: it has something else"
            ])
    }

    @Test func `A speed without recorded times is a bad combination`() throws {
        let file = try TemporaryFile("City,Date,AQI\nA,2020-01-01,1\n")
        let program = try RunningProgram("air-quality-feed", ["replay", file.path, "--speed=2"])
        #expect(program.waitForEnd() == 1)
        #expect(
            program.errors == [
                #"air-quality-feed: --speed "2": expected a recording with times, or --interval instead"#
            ])
    }

    @Test func `A file that is no recording is named with its line`() throws {
        let file = try TemporaryFile("City,Date,AQI\nA,2020-01-01,many\n")
        let program = try RunningProgram("air-quality-feed", ["replay", file.path])
        #expect(program.waitForEnd() == 1)
        #expect(
            program.errors == [
                "air-quality-feed: FILE \"\(file.path)\": expected CSV with City, Date and AQI, or lines of JSON: "
                    + #"line 2: AQI "many" is not a number, expected one, or nothing"#
            ])
    }

    @Test func `A list of cities is named with its flag and the line that is wrong`() throws {
        let file = try TemporaryFile("city,latitude,longitude\nA,1,east\n")
        let program = try RunningProgram("air-quality-feed", ["poll", "--cities", file.path])
        #expect(program.waitForEnd() == 1)
        #expect(
            program.errors == [
                "air-quality-feed: --cities \"\(file.path)\": expected CSV with city,latitude,longitude: line 2: the row "
                    + #"is "A,1,east", expected city,latitude,longitude with degrees, and texts of at most 128 bytes of "#
                    + "UTF-8"
            ])
    }

    @Test func `A list of cities and a set are a bad combination`() throws {
        let file = try TemporaryFile("city,latitude,longitude\nA,1,2\n")
        let program = try RunningProgram("air-quality-feed", ["poll", "--set=india", "--cities", file.path])
        #expect(program.waitForEnd() == 1)
        #expect(program.errors == [#"air-quality-feed: --set "india": expected no --cities beside it"#])
    }
}
