import System
import TestSupport
import Testing

@testable import AirQualityExporter

struct HandshakeFailuresTests {
    @Test func `Failures are counted, and logged at most once a minute`() {
        let lines = WrittenLines()
        let failures = HandshakeFailures(logger: Logger(write: lines.append))
        for second in [5, 5.1, 30, 64.9, 65, 65.1, 200] {
            failures.note(client: "10.0.0.1", reason: "bad record", at: .seconds(second))
        }
        #expect(failures.count == 7)
        #expect(lines.text.split(separator: "\n").count == 3)
    }
}
