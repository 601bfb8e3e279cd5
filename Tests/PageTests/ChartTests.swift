import AirQuality
import TestSupport
import Testing

@testable import Page

func points(_ indices: [Double], every step: Int64 = 30_000, from start: Timestamp = 1_000_000)
    -> [HistoryPoint]
{
    indices.enumerated().map { HistoryPoint(time: start + Int64($0) * step, aqi: $1) }
}

struct ChartTests {
    private func chart(_ points: [HistoryPoint], _ query: String = "") throws -> Chart {
        Chart(points, try ChartQuery(query), at: 0, scale: .india)
    }

    @Test(arguments: [[5.0], [301, 301], [0, 999], [48, 52, 47]])
    func `A chart contains all points, and its bands adjoin from 0 up`(_ indices: [Double]) throws {
        let shown = try chart(points(indices))
        for point in shown.points {
            #expect((0...1).contains(shown.x(point.time)) && (0...1).contains(shown.y(point.aqi)))
        }
        #expect(!shown.ticks.isEmpty && shown.ticks.count <= 7)
        #expect(shown.levels.count >= 2 && shown.levels.last == 0)
        let bands = shown.bands
        #expect(bands[0].bottom == 1 && bands[bands.count - 1].top == 0)
        for (one, next) in zip(bands, bands.dropFirst()) { #expect(one.top == next.bottom) }
    }

    @Test(
        arguments: [
            ([5.0], 51.0), ([48], 51), ([49], 101), ([52], 101), ([300], 401), ([401], 500), ([500], 600),
            ([0, 999], 1100),
        ] as [([Double], Double)])
    func `The axis ends with the category of the highest point or the next`(_ indices: [Double], _ top: Double) throws {
        #expect(try chart(points(indices)).top == top)
    }

    @Test func `A zoomed chart has the points of its range, and a line that continues beyond it`() throws {
        let all = points((0..<25).map { Double($0) })
        let shown = try chart(all, "from=1060000&to=1150000")
        #expect(shown.points.map(\.aqi) == [2, 3, 4, 5])
        #expect(shown.runs.map { $0.map(\.aqi) } == [[1, 2, 3, 4, 5, 6]])
        #expect(try chart(all, "from=1061000&to=1062000").runs.map { $0.map(\.aqi) } == [[2, 3]])
        #expect(try chart(all).runs.map(\.count) == [25])
        for query in ["from=5000000&to=6000000", "from=5000000", "to=1"] {
            let empty = try chart(all, query)
            #expect(empty.points.isEmpty && empty.from < empty.to)
        }
    }

    @Test func `Thinning many points keeps the lowest and the highest of each stretch`() throws {
        var indices = (0..<10_000).map { _ in 100.0 }
        indices[1234] = 7
        indices[8765] = 480
        let kept = thinned(points(indices), to: 600)
        #expect(kept.count <= 602)
        #expect(kept.first?.time == points(indices).first?.time && kept.last?.time == points(indices).last?.time)
        #expect(kept.contains { $0.aqi == 7 } && kept.contains { $0.aqi == 480 })
        #expect(zip(kept, kept.dropFirst()).allSatisfy { $0.time < $1.time })
        #expect(thinned(points([1, 2, 3]), to: 600).count == 3)
    }

    @Test(arguments: [10, 700, 5000]) func `A line has a gap where points are missing`(_ count: Int) throws {
        let indices = (0..<count).map { Double($0 * 7919 % 50) }
        let later = points(indices, from: 1_000_000 + Int64(2 * count) * 30_000)
        let runs = try chart(points(indices) + later).runs
        #expect(runs.count == 2)
        #expect(try chart(points(indices)).runs.count == 1)
    }

    @Test func `A line of irregular points is whole, and has a gap where more than three usual ones are missing`()
        throws
    {
        var time: Timestamp = 1_000_000
        var steps: [Int64] = []
        // As of a city that is in three of five messages.
        for _ in 0..<20 { steps += [1, 1, 2, 1, 3, 1, 2, 1, 1, 4].map { 2000 * $0 } }
        func history(_ steps: [Int64]) -> [HistoryPoint] {
            steps.map { step in
                time += step
                return HistoryPoint(time: time, aqi: 100)
            }
        }
        #expect(try chart(history(steps)).runs.count == 1)
        #expect(try chart(history(steps + [60_000] + steps)).runs.count == 2)
        #expect(try chart(history([60_000, 60_000, 60_000, 240_000, 60_000])).runs.count == 2)
        #expect(try chart(history([60_000, 60_000, 60_000, 180_000, 60_000])).runs.count == 1)
    }

    @Test(
        arguments: [
            (1000 as Int64, "04:49:45"), (30_000, "04:49"), (10_000_000, "21 Nov 04:49"),
            (2_000_000_000, "21 Nov 2026 04:49"),
        ])
    func `Times are as short as the length of the chart allows`(_ step: Int64, _ text: String) throws {
        let shown = try chart(points([Double](repeating: 1, count: 25), every: step, from: TestStore.start))
        #expect(shown.pattern.text(of: TestStore.start) == text)
    }

    @Test(arguments: [25, 60, 168, 2000, 8000])
    func `Narrow screens show the first and the last date of the time axis`(_ hours: Int64) throws {
        let shown = try chart(points([1, 1], every: hours * 3_600_000, from: TestStore.start))
        let markup = String(decoding: shown.markup(.line, label: "").bytes, as: UTF8.self)
        let texts = markup.matches(of: /class="(clock[^"]*)"/).map(\.1)
        #expect(texts.first == "clock" && texts.last == "clock" && texts.count { $0 == "clock" } == 2)
    }
}
