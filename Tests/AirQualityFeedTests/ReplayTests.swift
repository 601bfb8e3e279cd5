import Foundation
import TestSupport
import Testing

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
