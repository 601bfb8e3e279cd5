import AirQuality

/// The points of a city as a small line over an area, without numbers.
///
/// Its axis begins at 0 and ends where the category of the highest point does, so that noise does not look like a
/// change.
struct Sparkline {
    private let points: [HistoryPoint]
    private let top: Double

    /// More are too fine to be seen.
    private static let maximumPoints = 60

    init(_ points: [HistoryPoint], scale: Scale) {
        self.points = thinned(points, to: Self.maximumPoints)
        let high = points.reduce(1) { max($0, $1.index) }
        top = scale.categories.map(\.from).first { $0 > high } ?? high * 1.1
    }

    var markup: Markup {
        // The first two points come at once, so they say nothing about the time between them.
        guard let first = points.first, let last = points.last, points.count > 2 else {
            return "<svg class=\"spark\" aria-hidden=\"true\"></svg>"
        }
        let span = Double(max(1, last.time - first.time))
        let line = Markup(each: points) { point in
            let x = Int((Double(point.time - first.time) / span * 1000).rounded())
            return "\(x),\(y(point)) "
        }
        let low = points.reduce(last.index) { min($0, $1.index) }
        let high = points.reduce(last.index) { max($0, $1.index) }
        // The end is a line of no length with round caps: the drawing is stretched, and a circle would be too.
        let end: Markup = "M1000 \(y(last))h0"
        return """
            <svg class="spark" viewBox="-20 -20 1040 340" preserveAspectRatio="none" role="img" \
            aria-label="\(points.count) points from \(Int(low)) to \(Int(high))">\
            <polygon points="0,300 \(line)1000,300"/><polyline points="\(line)"/>\
            <path class="rim" d="\(end)"/><path class="end" d="\(end)"/></svg>
            """
    }

    private func y(_ point: HistoryPoint) -> Int { Int(((top - point.index) / top * 300).rounded()) }
}

/// At most `count` points: of each stretch of time the lowest and the highest.
func thinned(_ points: [HistoryPoint], to count: Int) -> [HistoryPoint] {
    guard points.count > count, let first = points.first, let last = points.last, last.time > first.time else {
        return points
    }
    let stretches = Int64(max(1, count / 2))
    let length = (last.time - first.time) / stretches + 1
    var kept: [HistoryPoint] = []
    var rest = points[...]
    for stretch in 1...stretches {
        let part = rest.prefix { $0.time < first.time + length * stretch }
        rest = rest.dropFirst(part.count)
        guard let low = part.min(by: { $0.index < $1.index }), let high = part.max(by: { $0.index < $1.index }) else {
            continue
        }
        if low.time == high.time {
            kept.append(low)
        } else {
            kept += low.time < high.time ? [low, high] : [high, low]
        }
    }
    return kept
}
