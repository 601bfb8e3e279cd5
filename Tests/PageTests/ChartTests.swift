import AirQuality
import Testing

@testable import Page

@Suite("The chart") struct ChartTests {
    private func points(_ indices: [Double], every step: Int64 = 30_000) -> [HistoryPoint] {
        indices.enumerated().map { HistoryPoint(time: 1_000_000 + Int64($0) * step, index: $1, category: 1) }
    }

    private func chart(_ points: [HistoryPoint], _ query: String = "") throws -> Chart {
        Chart(points, try ChartQuery(query), at: 0, scale: .india)
    }

    @Test("has all points in it, with room around", arguments: [[5.0], [301, 301], [0, 999], [48, 52, 47]])
    func bounds(_ indices: [Double]) throws {
        let shown = try chart(points(indices))
        for point in shown.points {
            #expect((0...1).contains(shown.x(point.time)) && (0...1).contains(shown.y(point.index)))
        }
        #expect(shown.low >= 0 && shown.high - shown.low >= 12)
        #expect(!shown.ticks.isEmpty && shown.ticks.count <= 7)
        #expect(!shown.levels.isEmpty && shown.levels.count <= 14)
        let bands = shown.bands
        #expect(abs(bands[0].bottom - 1) < 1e-9 && abs(bands[bands.count - 1].top) < 1e-9)
        for (one, next) in zip(bands, bands.dropFirst()) { #expect(one.top == next.bottom) }
    }

    @Test(
        "shows two bands or more, none of the two a sliver",
        arguments: [
            [5.0], [48, 49], [52, 53], [399, 400], [401, 402], [0, 999], [100, 101], [201, 560], [20, 52],
        ])
    func twoBands(_ indices: [Double]) throws {
        for isBars in [false, true] {
            let shown = try chart(points(indices), isBars ? "chart=bars" : "")
            #expect(shown.bands.count { $0.bottom - $0.top >= 0.08 } >= 2, "\(shown.bands.map { $0.bottom - $0.top })")
        }
    }

    @Test("of bars begins at zero, and has the scale's bands from there") func bars() throws {
        let shown = try chart(points([301, 310]), "chart=bars")
        #expect(shown.low == 0)
        #expect(shown.bands.first?.category.number == 1 && shown.bands.first?.bottom == 1)
    }

    @Test("shows the time that is asked for, be it empty") func zoom() throws {
        let all = points((0..<25).map { Double($0) })
        let shown = try chart(all, "from=1060000&to=1150000")
        #expect(shown.points.map(\.index) == [2, 3, 4, 5])
        // The line goes on to what is outside.
        #expect(shown.line.map(\.index) == [1, 2, 3, 4, 5, 6])
        #expect(try chart(all, "from=1061000&to=1062000").line.map(\.index) == [2, 3])
        #expect(try chart(all).line.count == 25)
        #expect(try chart(all, "from=5000000&to=6000000").points.isEmpty)
        #expect(try chart(all, "from=5000000").points.isEmpty)
        #expect(try chart(all, "to=1").points.isEmpty)
    }

    @Test("of very many points keeps each stretch's lowest and highest") func thinning() throws {
        var indices = (0..<10_000).map { _ in 100.0 }
        indices[1234] = 7
        indices[8765] = 480
        let kept = thinned(points(indices), to: 600)
        #expect(kept.count <= 600)
        #expect(kept.contains { $0.index == 7 } && kept.contains { $0.index == 480 })
        #expect(zip(kept, kept.dropFirst()).allSatisfy { $0.time < $1.time })
        #expect(thinned(points([1, 2, 3]), to: 600).count == 3)
    }

    @Test("has a piece from point to point, and none where there is a gap, however many there are") func gaps() throws {
        // A minute three times, then an hour: a quarter of the points have gaps after them.
        var time: Timestamp = 0
        let all = (0..<10_000).map { number -> HistoryPoint in
            time += number % 4 == 0 ? 3_600_000 : 60_000
            return HistoryPoint(time: time, index: Double(number % 50), category: 1)
        }
        let few = try chart(Array(all.prefix(100)))
        let runs = few.runs
        #expect(few.gaps.count == 24 && runs.count == 25 && runs.flatMap(\.self).count == 100)
        for run in runs {
            #expect(zip(run, run.dropFirst()).allSatisfy { $1.time - $0.time == 60_000 })
        }
        // Too narrow to be seen, and too many to be drawn.
        #expect(try chart(all).gaps.isEmpty)
        #expect(try chart(all, "from=\(all[0].time)&to=\(all[400].time)").gaps.count >= 100)
    }

    @Test(
        "says times as short as its length allows",
        arguments: [(1000 as Int64, "04:49:45"), (30_000, "04:49"), (10_000_000, "21 Nov 04:49")])
    func clock(_ step: Int64, _ text: String) throws {
        let start = TestStore.start
        let points = (0..<25).map { HistoryPoint(time: start + Int64($0) * step, index: 1, category: 1) }
        #expect(try chart(points).clock(start) == text)
    }
}

@Suite("The sparkline") struct SparklineTests {
    private func heights(_ indices: [Double]) -> [Int] {
        let points = indices.enumerated().map { HistoryPoint(time: Int64($0) * 1000, index: $1, category: 1) }
        let markup = String(decoding: Sparkline(points, scale: .india).markup.bytes, as: UTF8.self)
        guard let line = markup.firstMatch(of: /polyline points="([^"]*)"/) else { return [] }
        return line.1.split(separator: " ").compactMap { $0.split(separator: ",").last.flatMap { Int($0) } }
    }

    @Test("begins at 0 and ends where the category of the highest point does, so that noise is no drama")
    func axis() {
        #expect(heights([0, 51, 100]) == [300, 149, 3])
        #expect(heights([49, 50, 49]) == [12, 6, 12])
        #expect(heights([500, 499, 500]) == [27, 28, 27])
        #expect(heights([500, 499]) == [])
    }
}
