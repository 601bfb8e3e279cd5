import Foundation
import TestSupport
import Testing
import WebSocket

/// A file that is removed with this value.
struct TemporaryFile {
    private let directory = TemporaryDirectory()
    let path: String

    init(_ content: String) { path = directory.write("file", content) }

    var lines: [String] {
        let content = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return content.split(separator: "\n").map(String.init)
    }
}

private let days = """
    City,Date,AQI
    Delhi,2019-10-02,101
    Delhi,2019-10-01,98
    Pune,2019-10-01,54.5

    """
private let dayMessages = [
    #"[{"city":"Delhi","aqi":98},{"city":"Pune","aqi":54.5}]"#, #"[{"city":"Delhi","aqi":101}]"#,
]

struct ReplayTests {
    @Test func `A replay starts again at the end of the file`() throws {
        let file = TemporaryFile(days)
        try withFeed(["replay", file.path, "--interval=5ms"]) { program, address in
            let listeners = try [FeedListener(address), FeedListener(address)]
            for listener in listeners { #expect(listener.waitForMessages(9)) }
            for listener in listeners {
                let messages = listener.messages
                let first = try #require(dayMessages.firstIndex(of: messages[0]))
                #expect(messages.enumerated().allSatisfy { $1 == dayMessages[(first + $0) % 2] })
            }
            program.kill(SIGTERM)
            #expect(program.waitForEnd() == 0)
        }
    }

    @Test func `Recorded gaps are divided by the speed`() throws {
        // Two hours and a day at their own pace.
        let file = TemporaryFile(
            """
            {"time_ms":0,"message":"one"}
            {"time_ms":7200000,"message":"two"}
            {"time_ms":93600000,"message":"three"}

            """)
        try withFeed(["replay", file.path, "--once", "--speed=1000000"]) { program, address in
            let listener = try FeedListener(address)
            #expect(program.waitForEnd() == 0)
            #expect(listener.waitForEnd())
            #expect(listener.messages == ["one", "two", "three"])
        }
    }

    @Test func `Lines of a pipe are sent as they come, and its end is the end of the feed`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("pipe")
        directory.makePipe("pipe")
        try withFeed(["replay", path]) { program, address in
            let listener = try FeedListener(address)
            // Opening waits until the feed reads.
            let writer = try #require(FileHandle(forWritingAtPath: path))
            let recorded = #"{"time_ms":5,"out":"x"}"# + "\n" + #"{"time_ms":6,"message":"[2]"}"#
            try writer.write(contentsOf: Data("[1]\n\nplain text\n\(recorded)\n[".utf8))
            #expect(listener.waitForMessages(3))
            try writer.write(contentsOf: Data([UInt8](repeating: 0x61, count: 4 << 20)))
            try writer.write(contentsOf: Data("\n\u{3}".utf8) + Data([0xFF]) + Data("\n[3]".utf8))
            try writer.close()
            #expect(program.waitForEnd() == 0)
            #expect(listener.waitForEnd())
            #expect(listener.end == .closed)
            #expect(listener.messages == ["[1]", "plain text", "[2]", "[3]"])
            #expect(program.errors.count == 2)
            #expect(program.errors.first?.hasSuffix("msg=\"leaving out lines longer than 4 MiB\"") == true)
            #expect(program.errors.last?.hasSuffix("msg=\"leaving out lines that are not UTF-8\"") == true)
        }
    }

    @Test func `A signal ends a replay that waits for lines`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("pipe")
        directory.makePipe("pipe")
        try withFeed(["replay", path]) { program, address in
            let listener = try FeedListener(address)
            let writer = try #require(FileHandle(forWritingAtPath: path))
            try writer.write(contentsOf: Data("[1]\n".utf8))
            #expect(listener.waitForMessages(1))
            program.kill(SIGTERM)
            #expect(program.waitForEnd() == 0)
            #expect(listener.waitForEnd())
            try writer.close()
        }
    }

    @Test func `A last line that is cut off is left out and logged`() throws {
        let file = TemporaryFile("[1]\n[2]\n[3")
        try withFeed(["replay", "--once", "--interval=1ms", file.path]) { program, address in
            let listener = try FeedListener(address)
            #expect(program.waitForEnd() == 0)
            #expect(listener.waitForEnd())
            #expect(listener.messages == ["[1]", "[2]"])
            #expect(
                program.errors.count == 1
                    && program.errors[0].hasSuffix(
                        "level=WARN msg=\"\(file.path):3: skipping a truncated line\"")
            )
        }
    }
}
