import AirQuality
import Bytes

/// The points of a city as a small line without axes.
struct Sparkline {
    private let points: [HistoryPoint]

    /// More are too fine to be seen.
    private static let maximumPoints = 60

    init(_ points: [HistoryPoint]) { self.points = thinned(points, to: Self.maximumPoints) }

    var markup: Markup {
        // The first two points come at once, so they say nothing about the time between them.
        guard let first = points.first, let last = points.last, points.count > 2 else {
            return "<svg class=\"spark\" aria-hidden=\"true\"></svg>"
        }
        let low = points.reduce(last.index) { min($0, $1.index) }
        let high = points.reduce(last.index) { max($0, $1.index) }
        let span = Double(max(1, last.time - first.time))
        func x(_ point: HistoryPoint) -> Int { Int((Double(point.time - first.time) / span * 1000).rounded()) }
        func y(_ point: HistoryPoint) -> Int {
            high > low ? Int(((high - point.index) / (high - low) * 280).rounded()) : 140
        }
        let line = Markup(each: points) { "\(x($0)),\(y($0)) " }
        // The end is a line of no length with round caps: the drawing is stretched, and a circle would be too.
        let end: Markup = "M1000 \(y(last))h0"
        return """
            <svg class="spark" viewBox="-20 -40 1040 360" preserveAspectRatio="none" role="img" \
            aria-label="\(points.count) points from \(Int(low)) to \(Int(high))">\
            <polyline points="\(line)"/><path class="rim" d="\(end)"/><path class="end" d="\(end)"/></svg>
            """
    }
}

/// At most `count` points: of each stretch of time the lowest and the highest.
func thinned(_ points: [HistoryPoint], to count: Int) -> [HistoryPoint] {
    guard points.count > count, let first = points.first, let last = points.last, last.time > first.time else {
        return points
    }
    let stretches = max(1, count / 2)
    var kept: [HistoryPoint] = []
    var start = 0
    for stretch in 1...stretches {
        let end = first.time + (last.time - first.time) / Int64(stretches) * Int64(stretch)
        var next = start
        while next < points.count, points[next].time <= end || stretch == stretches { next += 1 }
        if next > start {
            let indices = start..<next
            let low = indices.min { points[$0].index < points[$1].index }!
            let high = indices.max { points[$0].index < points[$1].index }!
            for index in low == high ? [low] : [min(low, high), max(low, high)] { kept.append(points[index]) }
        }
        start = next
    }
    return kept
}

/// The points of a city over the bands of the scale: where everything is, as shares of the drawing's width and height.
struct Chart {
    let points: [HistoryPoint]
    /// The points, and those before and after them, which the line comes from and leads to.
    let line: [HistoryPoint]
    /// The same of another city, to compare.
    let otherLine: [HistoryPoint]
    /// The times between points that are more than three times as far apart as usual: nothing is known of them. Those
    /// that are too narrow to be seen are left out, so there are no more than `maximumPoints` in view.
    let gaps, otherGaps: [(from: Timestamp, to: Timestamp)]
    let from, to: Timestamp
    /// The lowest and highest index drawn.
    let low, high: Double
    let scale: Scale

    /// More are drawn as the lowest and highest of each stretch.
    static let maximumPoints = 600

    /// - Parameters:
    ///   - points: in order of time, at least one; of these, those from `from` to `to` are shown.
    ///   - other: the points of another city in the same chart; may be empty.
    ///   - beginsAtZero: as bars must, whose length is what is compared.
    init(
        _ points: [HistoryPoint], other: [HistoryPoint] = [], from: Timestamp?, to: Timestamp?,
        beginsAtZero: Bool = false, scale: Scale
    ) {
        self.scale = scale
        let first = points.firstIndex { $0.time >= from ?? .min } ?? points.endIndex
        let end = points.firstIndex { $0.time > to ?? .max } ?? points.endIndex
        let shown = Array(points[first..<max(first, end)])
        self.points = thinned(shown, to: Self.maximumPoints)
        line = Array(points[max(0, first - 1)..<first]) + self.points + points[max(first, end)...].prefix(1)
        // A margin, so that the first and the last point are whole; a single moment gets a width to be in the middle of.
        let margin = max(1000, (points[points.count - 1].time - points[0].time) / 40)
        let start = from ?? min(points[0].time, to ?? .max) - margin
        self.from = start
        let stop = max(start + 1, to ?? max(start, points[points.count - 1].time) + margin)
        self.to = stop
        let shortest = (stop - start) / Int64(Self.maximumPoints)
        gaps = Self.gaps(in: points, noShorterThan: shortest)
        otherGaps = Self.gaps(in: other, noShorterThan: shortest)
        otherLine = thinned(other.filter { (start...stop).contains($0.time) }, to: Self.maximumPoints)
        let drawn = (shown.isEmpty ? points : shown) + otherLine
        let lowest = drawn.reduce(Double.infinity) { min($0, $1.index) }
        let highest = drawn.reduce(0) { max($0, $1.index) }
        // Keep a minimum vertical range, so that noise does not look like a real change.
        let room = max(12, (highest - lowest) / 4)
        (low, high) = Self.reaching(
            beyond: beginsAtZero ? 0 : max(0, lowest - room), highest + room,
            bounds: scale.categories.dropFirst().map(\.from))
    }

    /// Widens a range as little as shows a ninth of its height on both sides of a bound, so that a reader sees what is
    /// how far away.
    private static func reaching(beyond low: Double, _ high: Double, bounds: [Double]) -> (Double, Double) {
        bounds.map { (max(0, min(low, $0 - (high - $0) / 8)), max(high, $0 + ($0 - low) / 8)) }
            .min { $0.1 - $0.0 < $1.1 - $1.0 } ?? (low, high)
    }

    private static func gaps(
        in points: [HistoryPoint], noShorterThan shortest: Int64
    ) -> [(from: Timestamp, to: Timestamp)] {
        let spans = zip(points, points.dropFirst()).map { (from: $0.time, to: $1.time) }
        guard spans.count > 2 else { return [] }
        let usual = spans.map { $0.to - $0.from }.sorted()[spans.count / 2]
        return spans.filter { $0.to - $0.from > 3 * usual && $0.to - $0.from >= shortest }
    }

    /// The runs of a line, of points in order of time, between its gaps.
    static func runs(of line: [HistoryPoint], between gaps: [(from: Timestamp, to: Timestamp)]) -> [[HistoryPoint]] {
        var next = gaps[...]
        var runs: [[HistoryPoint]] = []
        for point in line {
            // Gaps do not overlap: the first that begins at the last point or later is the first that ends.
            while let gap = next.first, let last = runs.last?.last, gap.from < last.time { next.removeFirst() }
            if runs.isEmpty || next.first.map({ $0.to <= point.time }) ?? false {
                runs.append([point])
            } else {
                runs[runs.count - 1].append(point)
            }
        }
        return runs
    }

    /// What is known of the other city at a time: its last point before, unless it is in a gap.
    func other(at time: Timestamp) -> HistoryPoint? {
        otherGaps.contains { $0.from < time && time < $0.to } ? nil : otherLine.last { $0.time <= time }
    }

    func x(_ time: Timestamp) -> Double { Double(time - from) / Double(to - from) }

    func y(_ index: Double) -> Double { (high - index) / (high - low) }

    /// The bands that are in view, the lowest first.
    var bands: [(category: Category, top: Double, bottom: Double)] {
        scale.categories.indices.compactMap { place in
            let category = scale.categories[place]
            let end = place + 1 < scale.categories.count ? scale.categories[place + 1].from : .infinity
            guard category.from < high, end > low else { return nil }
            return (category, y(min(end, high)), y(max(category.from, low)))
        }
    }

    /// The indices at which the axis has a number: where bands begin, and round ones that are not too near to those.
    var levels: [(index: Double, isBound: Bool)] {
        let bounds = scale.categories.map(\.from).filter { $0 > low && $0 < high }
        let steps: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]
        let step = steps.first { (high - low) / $0 < 7 } ?? 5000
        let round = stride(from: (low / step).rounded(.up) * step, through: high, by: step)
        let free = round.filter { number in bounds.allSatisfy { abs($0 - number) > (high - low) / 16 } }
        return bounds.map { ($0, true) } + free.map { ($0, false) }
    }

    /// Round times at which the axis has one, six at most.
    var ticks: [Timestamp] {
        let steps: [Int64] = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200]
        let span = to - from
        let step = steps.first { span / ($0 * 1000) < 6 }.map { $0 * 1000 } ?? (span / 6 / 86_400_000 + 1) * 86_400_000
        let first = (from + step - 1) / step * step
        return Array(stride(from: first, through: to, by: Int(step)))
    }

    var pattern: ClockPattern { ClockPattern(span: to - from) }

    func clock(_ time: Timestamp) -> String { pattern.text(of: time) }
}

/// How much of a time a reader needs; page.js writes the same forms in the reader's time zone.
enum ClockPattern: String {
    /// 04:49:45
    case seconds
    /// 04:49
    case time
    /// 21 Nov 04:49
    case date
    /// 21 Nov
    case day

    /// - Parameter span: of the times that are shown together, milliseconds.
    init(span: Int64) {
        // The range of a day has room beside its points.
        self = span > 90_000_000 ? .date : span < 600_000 ? .seconds : .time
    }

    /// A time of UTC as people write it.
    func text(of time: Timestamp) -> String {
        var text: [UInt8] = []
        text.appendRFC3339(time)
        // 2026-11-21T04:49:45.252Z
        func part(_ range: Range<Int>) -> String { String(decoding: text[range], as: UTF8.self) }
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let day = "\(Int(part(8..<10)) ?? 0) \(months[(Int(part(5..<7)) ?? 1) - 1])"
        return switch self {
        case .seconds: part(11..<19)
        case .time: part(11..<16)
        case .date: "\(day) \(part(11..<16))"
        case .day: day
        }
    }
}
