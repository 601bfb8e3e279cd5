import AirQuality

/// The points of a city over the bands of the scale: where everything is, as shares of the drawing's width and height.
struct Chart {
    typealias Gap = (from: Timestamp, to: Timestamp)

    /// The points that are shown.
    let points: [HistoryPoint]
    /// The points, and those before and after them, which the line comes from and leads to.
    let line: [HistoryPoint]
    /// The times between points that are more than three times as far apart as usual: nothing is known of them. Gaps
    /// that are too narrow to be seen are left out, so there are no more than `maximumPoints` in view.
    let gaps: [Gap]
    /// The times at the left and the right edge.
    let from, to: Timestamp
    /// The lowest and highest index drawn.
    let low, high: Double
    let scale: Scale

    /// With more, the lowest and highest point of each stretch are drawn.
    static let maximumPoints = 600

    /// - Parameters:
    ///   - points: in order of time, at least one.
    ///   - query: what is shown of them. Bars begin at zero, because their length is what is compared.
    init(_ points: [HistoryPoint], _ query: ChartQuery, at now: Timestamp, scale: Scale) {
        self.scale = scale
        let from = query.range.map { now - $0.milliseconds } ?? query.from
        // A little beyond, so that the last point is whole.
        let to = query.range.map { now + $0.milliseconds / 40 } ?? query.to
        let first = points.firstIndex { $0.time >= from ?? .min } ?? points.endIndex
        let end = max(first, points.firstIndex { $0.time > to ?? .max } ?? points.endIndex)
        let shown = Array(points[first..<end])
        self.points = thinned(shown, to: Self.maximumPoints)
        line = Array(points[max(0, first - 1)..<first]) + self.points + points[end...].prefix(1)
        // A margin, so that the first and the last point are whole; a single moment gets a width to be in the middle
        // of.
        let oldest = points[0].time
        let newest = points[points.count - 1].time
        let margin = max(1000, (newest - oldest) / 40)
        let start = from ?? min(oldest, to ?? .max) - margin
        let stop = max(start + 1, to ?? max(start, newest) + margin)
        self.from = start
        self.to = stop
        gaps = Self.gaps(in: points, noShorterThan: (stop - start) / Int64(Self.maximumPoints))
            .filter { $0.to > start && $0.from < stop }
        let drawn = shown.isEmpty ? points : shown
        let lowest = drawn.reduce(Double.infinity) { min($0, $1.index) }
        let highest = drawn.reduce(0) { max($0, $1.index) }
        // At least this high, so that noise does not look like a real change.
        let room = max(12, (highest - lowest) / 4)
        let range = Self.reaching(
            beyond: query.style == .bars ? 0 : max(0, lowest - room), highest + room,
            bounds: scale.categories.dropFirst().map(\.from))
        low = range.low
        high = range.high
    }

    /// Widens a range as little as shows a ninth of its height on both sides of a bound, so that a reader sees what is
    /// how far away.
    private static func reaching(
        beyond low: Double, _ high: Double, bounds: [Double]
    ) -> (low: Double, high: Double) {
        bounds.map { (low: max(0, min(low, $0 - (high - $0) / 8)), high: max(high, $0 + ($0 - low) / 8)) }
            .min { $0.high - $0.low < $1.high - $1.low } ?? (low, high)
    }

    private static func gaps(in points: [HistoryPoint], noShorterThan shortest: Int64) -> [Gap] {
        let spans = zip(points, points.dropFirst()).map { (from: $0.time, to: $1.time) }
        guard spans.count > 2 else { return [] }
        let usual = spans.map { $0.to - $0.from }.sorted()[spans.count / 2]
        return spans.filter { $0.to - $0.from > 3 * usual && $0.to - $0.from >= shortest }
    }

    /// The parts of the line between its gaps.
    var runs: [[HistoryPoint]] {
        var ends = Set(gaps.map(\.to))
        var runs: [[HistoryPoint]] = []
        for point in line {
            if runs.isEmpty || ends.remove(point.time) != nil {
                runs.append([point])
            } else {
                runs[runs.count - 1].append(point)
            }
        }
        return runs
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
