import TestSupport
import Testing

/// The wording of formats is tested in CommandLineTests.
struct FlagErrorTests {
    private static let listen = "expected host:port, [address]:port or :port, with a port from 0 to 65535"
    private static let key =
        "expected a file with the key alone, without name, quotes or brackets: "
        + "at most 256 letters, digits and -_.+/, = only at the end"
    private static let baseURL = "expected http:// or https:// and a host, without user, path and query"
    private static let recording = "expected CSV with City, Date and AQI, or lines of JSON"
    private static let cities = "expected CSV with city,latitude,longitude"
    private static let missing = "cannot read /no/file: No such file or directory"

    @Test(
        arguments: [
            (["--listen=8765"], #"--listen "8765": \#(listen)"#),
            (["--listen=unix:/tmp/feed"], #"--listen "unix:/tmp/feed": \#(listen)"#),
            (["--cities=0"], #"--cities "0": expected a whole number, 1 to 1000000"#),
            (["--once"], "--once: not a flag of simulate, only of replay"),
            (["replay", "a", "--seed=1"], "--seed: not a flag of replay, only of simulate"),
            (["replay", "/no/file"], #"FILE "/no/file": \#(recording): \#(missing)"#),
            (
                ["record", "ws://h/", "--header=Host: secret"],
                "--header ***: expected a header other than Host, which the handshake sets itself"
            ),
            (
                ["record", "http://me:secret@host/?key=secret"],
                #"URL "http://***@host/?***": expected a ws:// or wss:// address, such as ws://host:8080/path; "#
                    + "it does not begin with ws:// or wss://; "
                    + "for JSON over HTTP, air-quality-feed poll --source json serves a feed"
            ),
            (
                ["record", "ws://h/", "--output=/no/file"],
                #"--output "/no/file": expected a file to append to: cannot write /no/file: No such file or directory"#
            ),
            (["poll", "--source=iqair"], #"--source "iqair": expected open-meteo, waqi, openaq, cpcb or json"#),
            (["poll", "--index=uk"], #"--index "uk": expected india, us or eu"#),
            (["poll", "--set=europe"], #"--set "europe": expected seeds, india or capitals"#),
            (["poll", "--cities=/no/file"], #"--cities "/no/file": \#(cities): \#(missing)"#),
            (["poll", "--source=waqi", "--index=india"], #"--index "india": expected us, the index that waqi gives"#),
            (["poll", "--source=cpcb", "--index=us"], #"--index "us": expected india, the index that cpcb gives"#),
            (
                ["poll", "--source=openaq"],
                "--key-file: expected a file with the key for openaq, or the key in AIR_QUALITY_FEED_KEY"
            ),
            (
                ["poll", "--source=openaq", "--key-file=/dev/null"],
                #"--key-file "/dev/null": \#(key): cannot read /dev/null: it is not a regular file"#
            ),
            (
                ["poll", "--rate=60"],
                #"--rate "60": expected N/DURATION, N calls at once and then N each DURATION, for example 60/1m"#
            ),
            (
                ["poll", "--base-url=http://me:secret@host/?key=secret"],
                #"--base-url "http://***@host/?***": \#(baseURL)"#
            ),
            (
                ["poll", "--ca-file=/no/file"],
                #"--ca-file "/no/file": expected certificates of authorities in PEM: \#(missing)"#
            ),
            (
                ["poll", "--ca-file=/proc/self/status"],
                #"--ca-file "/proc/self/status": expected certificates of authorities in PEM: "#
                    + "cannot use the authorities in /proc/self/status: no start line"
            ),
            (
                ["poll", "--key=secret"],
                #"unknown flag "--key": use --key-file FILE or the variable AIR_QUALITY_FEED_KEY; "#
                    + "record has --header 'Name: value'"
            ),
        ] as [([String], String)])
    func `A mistake is reported on one line of standard error with status 1`(arguments: [String], line: String) throws {
        let program = try RunningProgram("air-quality-feed", arguments)
        #expect(program.waitForEnd() == 1)
        #expect(program.errors == ["air-quality-feed: " + line])
        #expect(program.output.isEmpty)
    }

    @Test(
        arguments: [
            (
                ["poll", "--source=waqi", "--key-file"], "API_KEY_2=secret",
                #"--key-file "PATH": \#(key): it has something else"#
            ),
            (
                ["replay", "--speed=2"], "City,Date,AQI\nA,2020-01-01,1",
                #"--speed "2": expected a recording with times, or --interval instead"#
            ),
            (
                ["replay"], "City,Date,AQI\nA,2020-01-01,many",
                #"FILE "PATH": \#(recording): line 2: City, Date and AQI are "A,2020-01-01,many", "#
                    + "expected a name in UTF-8, a date such as 2019-10-01 and a number, NA or nothing"
            ),
            (
                ["poll", "--cities"], "city,latitude,longitude\nA,1,east",
                #"--cities "PATH": \#(cities): line 2: city,latitude,longitude,id,country are "A,1,east,,", "#
                    + "expected coordinates in degrees and other fields of at most 128 bytes of UTF-8"
            ),
            (
                ["poll", "--set=india", "--cities"], "city,latitude,longitude\nA,1,2",
                #"--set "india": expected --set or --cities, not both"#
            ),
        ] as [([String], String, String)])
    func `A mistake in a file is reported on one line as well`(flags: [String], content: String, line: String) throws {
        let file = TemporaryFile(content + "\n")
        try `A mistake is reported on one line of standard error with status 1`(
            arguments: flags + [file.path], line: line.replacing("PATH", with: file.path))
    }
}
