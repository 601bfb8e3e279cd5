import TestSupport
import Testing

@testable import AirQuality

struct HistoryTests {
    /// Seconds of readings and of the points they leave, with the default rule.
    @Test(
        arguments: [
            ([0], [0]), ([0, 1], [0, 1]), ([0, 1, 2, 30], [0, 1]), ([0, 1, 30.999], [0, 1]), ([0, 1, 31], [0, 1, 31]),
            ([0, 1, 35, 61, 65], [0, 1, 35, 65]), ([0, 100], [0, 100]), ([0, 100, 129, 130], [0, 100, 130]),
        ] as [([Double], [Double])])
    func `The first two readings become points at once, and later ones after an interval`(
        _ readings: [Double], _ points: [Double]
    ) {
        var test = TestStore()
        for second in readings { test.receive("Pune", 7, at: TestStore.start + Int64(second * 1000)) }
        #expect(test.points(of: "Pune").map { Double($0.time - TestStore.start) / 1000 } == points)
    }

    @Test func `With keep last, the last reading of a window becomes a point when it closes`() {
        var test = TestStore(history: HistoryRule(interval: 30_000, keep: .last))
        let window = TestStore.start / 30_000 * 30_000
        for (second, aqi) in [(1, 1), (29.999, 2), (30, 3), (59, 4), (125, 5)] {
            test.receive("Pune", Double(aqi), at: window + Int64(second * 1000))
        }
        // The window of the last reading is open, so it is not shown.
        #expect(test.points(of: "Pune").map(\.aqi) == [2, 4])
        test.store.closeWindows(at: window + 149_999)
        #expect(test.points(of: "Pune").map(\.aqi) == [2, 4])
        test.store.closeWindows(at: window + 150_000)
        #expect(test.points(of: "Pune").map(\.aqi) == [2, 4, 5])
        #expect(test.points(of: "Pune").map { $0.time - window } == [29_999, 59_000, 125_000])
        test.store.closeWindows(at: window + 500_000)
        #expect(test.points(of: "Pune").count == 3)
    }

    @Test func `With keep last, a late reading replaces the point of its window`() {
        let format = FeedFormat(timeField: "time")
        var test = TestStore(history: HistoryRule(interval: 30_000, keep: .last), format: format)
        let window = TestStore.start / 30_000 * 30_000
        func receive(_ aqi: Int, of second: Int64, at arrival: Int64) {
            let time = window + second * 1000
            test.receive(#"[{"city":"Pune","aqi":\#(aqi),"time":\#(time)}]"#, at: window + arrival * 1000)
            test.store.closeWindows(at: window + arrival * 1000)
        }
        receive(1, of: 5, at: 31)
        receive(2, of: 35, at: 61)
        #expect(test.points(of: "Pune").map(\.aqi) == [1, 2])
        receive(3, of: 40, at: 62)
        receive(4, of: 59, at: 95)
        #expect(test.points(of: "Pune").map(\.aqi) == [1, 4])
        receive(5, of: 60, at: 96)
        #expect(test.points(of: "Pune").map(\.aqi) == [1, 4, 5])
    }

    @Test(arguments: HistoryRule.Keep.allCases)
    func `Every reading becomes a point if the interval is 0`(_ keep: HistoryRule.Keep) {
        var test = TestStore(history: HistoryRule(interval: 0, keep: keep))
        for aqi in 0..<5 { test.receive("Pune", Double(aqi), at: TestStore.start + Int64(aqi)) }
        #expect(test.points(of: "Pune").map(\.aqi) == [0, 1, 2, 3, 4])
    }

    @Test func `A history of one point takes the first two readings at once and then waits`() {
        var test = TestStore(history: HistoryRule(capacity: 1))
        for (second, aqi) in [(0, 1), (1, 2), (2, 3), (31, 4)] {
            test.receive("Pune", Double(aqi), at: TestStore.start + Int64(second * 1000))
            #expect(test.points(of: "Pune").map(\.aqi) == [[1], [2], [2], [4]][aqi - 1])
        }
    }

    @Test(arguments: HistoryRule.Keep.allCases)
    func `The history does not change when a feed repeats a reading`(_ keep: HistoryRule.Keep) {
        let format = FeedFormat(timeField: "time")
        var test = TestStore(history: HistoryRule(interval: 30_000, keep: keep), format: format)
        let time = TestStore.start - 60_000
        func receive() {
            test.receive(#"[{"city":"Pune","aqi":7,"time":\#(time)}]"#)
            test.store.closeWindows(at: TestStore.start)
        }
        receive()
        let changedAt = test.history(of: "Pune")?.changedAt
        receive()
        #expect(test.points(of: "Pune") == [HistoryPoint(time: time, aqi: 7)])
        #expect(test.history(of: "Pune")?.changedAt == changedAt, "the same points are the same document")
    }

    @Test func `Points in the future are dropped after the clock is set back`() {
        var test = TestStore(history: HistoryRule(interval: 100_000))
        for aqi in 0...3 { test.receive("Pune", Double(aqi), at: TestStore.start + Int64(aqi) * 100_000) }
        test.store.moveArrivals(at: TestStore.start + 150_000, by: -150_000, elapsed: 0)
        test.receive("Pune", 9, at: TestStore.start + 150_000)
        #expect(test.points(of: "Pune").map(\.aqi) == [0, 1])
        test.receive("Pune", 10, at: TestStore.start + 200_000)
        #expect(test.points(of: "Pune").map(\.aqi) == [0, 1, 10])
    }

    @Test func `A reading that arrives before the time of the newest one counts at that time`() {
        var test = TestStore(history: HistoryRule(interval: 0), format: FeedFormat(timeField: "time"))
        for second: Int64 in [0, 1, 30] {
            let time = TestStore.start + second * 1000
            test.receive(#"[{"city": "Pune", "aqi": \#(second), "time": \#(time)}]"#)
        }
        test.receive("Pune", 7, at: TestStore.start + 2000)
        #expect(test.points(of: "Pune").map(\.aqi) == [0, 1, 7])
        #expect(test.cities == ["Pune 7.0"] && test.rejections.isEmpty)
    }

    @Test func `The history takes no reading of a clock that was never set`() {
        var test = TestStore()
        test.receive("Pune", 1, at: TestStore.start)
        test.store.moveArrivals(at: 5000, by: 5000 - TestStore.start, elapsed: 0)
        test.receive("Pune", 2, at: 6000)
        #expect(test.points(of: "Pune").map(\.aqi) == [1] && test.cities == ["Pune 2.0"])
    }

    @Test(
        arguments: [
            // A later window is closed when a reading of an earlier one arrives.
            ([], [2, 30, 6], [6]), ([], [2, 30, 42], [2, 30, 42]),
            // Points of a shorter interval were restored: only the last one is the window's.
            ([1, 2, 3], [5, 30], [1, 2, 5, 30]), ([1, 2, 3], [2.5, 30], [1, 2, 2.5, 30]),
        ] as [([Double], [Double], [Double])])
    func `A window has one point, even with late readings and restored points`(
        _ restored: [Double], _ readings: [Double], _ points: [Double]
    ) {
        let rule = HistoryRule(interval: 20_000, keep: .last)
        func point(_ second: Double) -> HistoryPoint {
            HistoryPoint(time: Int64(second * 1000), aqi: second)
        }
        var history = History(points: restored.map(point), rule: rule, at: 4000)
        for second in readings { history.admit(point(second), rule: rule, at: Int64(second * 1000)) }
        history.closeWindow(before: .max, rule: rule, at: 60_000)
        #expect(history.points.map(\.aqi) == points)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `The history equals the newest points of a plain list for random readings`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let rule = HistoryRule(
            capacity: .random(in: 1...30, using: &random), interval: .random(in: 0...50, using: &random))
        var history = History()
        var list: [HistoryPoint] = []
        var kept = 0
        var time: Timestamp = 0
        for _ in 0..<1000 {
            time += .random(in: 0...20, using: &random)
            let point = HistoryPoint(time: time, aqi: .random(in: 0...9999, using: &random))
            if let last = list.last, last.time == time {
                list[list.count - 1] = point
            } else if kept < 2 || time - (list.last?.time ?? 0) >= rule.interval {
                list.append(point)
                kept += 1
            }
            history.admit(point, rule: rule, at: time)
            list = list.suffix(rule.capacity)
            #expect(history.points == list)
        }
    }
}
