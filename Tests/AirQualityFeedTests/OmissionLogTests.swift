import AirSources
import Testing

@testable import AirQualityFeed

struct OmissionLogTests {
    private let day: Int64 = 86_400_000

    @Test func `Omissions are logged in one line a day, by reason, with five names each`() {
        var log = OmissionLog()
        #expect(log.takeLine(at: 0) == nil)
        log.add([Omission("stations without coordinates", "B"), Omission("stations without coordinates", "A")])
        log.add(Set((1...7).map { Omission("hours that are spikes", "S\($0)") }))
        #expect(
            log.takeLine(at: 0) == "skipped or adjusted: 7 hours that are spikes (S1; S2; S3; S4; S5; 2 more), "
                + "2 stations without coordinates (A; B)")
        log.add([Omission("stations without coordinates", "C")])
        #expect(log.takeLine(at: day) == nil)
        #expect(log.takeLine(at: day + 1) == "skipped or adjusted: 1 stations without coordinates (C)")
        #expect(log.takeLine(at: 3 * day) == nil)
        #expect(Omission("mobile stations", String(repeating: "e\u{301}", count: 1000)).name.utf8.count == 300)
    }
}
