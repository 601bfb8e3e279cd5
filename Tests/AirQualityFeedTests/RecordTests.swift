import FeedSimulation
import Foundation
import TestSupport
import Testing

@testable import AirQualityFeed

struct RecordTests {
    @Test func `A kill loses no line that was written, and the next run continues the file`() throws {
        try withFeed(["--interval=2ms"]) { _, address in
            let file = TemporaryFile("[\"cut off")
            for round in 1...2 {
                let before = file.lines.count
                let recorder = try RunningProgram("air-quality-feed", ["record", address, "--output=\(file.path)"])
                #expect(wait { file.lines.count >= before + 5 })
                recorder.kill(SIGKILL)
                #expect(recorder.waitForEnd() == 128 + SIGKILL)
                let lines = file.lines.dropFirst()
                let whole = try Recording(Array(lines.map { $0 + "\n" }.joined().utf8))
                #expect(whole.messages.count == lines.count && whole.isTimed, "round \(round)")
            }
            #expect(file.lines[0] == "[\"cut off")
        }
    }

    @Test func `Without a file the lines go to standard output`() throws {
        try withFeed(["--interval=2ms"]) { _, address in
            let recorder = try RunningProgram("air-quality-feed", ["record", address])
            #expect(wait { recorder.output.count >= 3 })
            recorder.kill(SIGINT)
            #expect(recorder.waitForEnd() == 0)
            let recording = try Recording(Array(recorder.output.map { $0 + "\n" }.joined().utf8))
            #expect(recording.isTimed)
        }
    }

    @Test func `An unreachable feed is logged once`() throws {
        try withFeed([]) { feed, address in
            feed.kill(SIGTERM)
            #expect(feed.waitForEnd() == 0)
            let recorder = try RunningProgram("air-quality-feed", ["record", address])
            #expect(wait { !recorder.errors.isEmpty })
            recorder.kill(SIGTERM)
            #expect(recorder.waitForEnd() == 0)
            #expect(recorder.errors.count == 1)
            #expect(recorder.errors[0].contains("level=WARN msg=\"\(address): refused: "))
        }
    }
}
