import Bytes
import FeedProtocol
import Foundation
import TestSupport
import Testing
import WebSocket

/// A file that is removed with it.
final class TemporaryFile {
    let path: String

    init(_ content: String? = nil) throws {
        path = FileManager.default.temporaryDirectory.appending(path: "air-quality-file-\(UUID())").path
        if let content { try Data(content.utf8).write(to: URL(filePath: path)) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

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
    @Test func `At the end of the file it begins again`() throws {
        let file = try TemporaryFile(days)
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
        let file = try TemporaryFile(
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

    @Test func `A last line that is cut off is left out and said so`() throws {
        let file = try TemporaryFile("[1]\n[2]\n[3")
        try withFeed(["replay", "--once", "--interval=1ms", file.path]) { program, address in
            let listener = try FeedListener(address)
            #expect(program.waitForEnd() == 0)
            #expect(listener.waitForEnd())
            #expect(listener.messages == ["[1]", "[2]"])
            #expect(
                program.errors.count == 1
                    && program.errors[0].hasSuffix(
                        "level=WARN msg=\"\(file.path):3: the last line is cut off and left out\"")
            )
        }
    }

    /// The reference data is not part of the package.
    private static let reference = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../shared/data/cpcb-city-day.csv").standardized.path

    @Test(.enabled(if: FileManager.default.fileExists(atPath: reference), "skipped: no reference data"))
    func `Daily data of India is played as it is published`() throws {
        try withFeed(["replay", Self.reference, "--once", "--interval=1ms"]) { program, address in
            let listener = try FeedListener(address)
            #expect(program.waitForEnd() == 0)
            #expect(listener.waitForEnd())
            #expect(listener.messages.count == 2009)
            #expect(listener.messages.first == #"[{"city":"Delhi","aqi":472.0}]"#)
            #expect(listener.messages.last?.contains(#"{"city":"Lucknow","aqi":"#) == true)
        }
    }
}
