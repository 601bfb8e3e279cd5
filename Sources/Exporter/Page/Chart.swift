import AirQuality

/// The layout of a chart: a city's points over the bands of the scale, in fractions of the width and height.
struct Chart {
    /// The points in view, thinned to about 600.
    let points: [HistoryPoint]
    /// Number of points in view before thinning.
    let count: Int
    /// The connected parts of the line, including one point beyond each edge. The line is interrupted where points are
    /// more than three times as far apart as usual, because nothing is known in between. Usual is what nine of ten
    /// distances do not exceed, because readings may come irregularly, but at most three times the median.
    let runs: [[HistoryPoint]]
    /// The times at the left and right edges.
    let from, to: Timestamp
    /// The time of the city's first point, in view or not.
    let oldest: Timestamp
    /// The AQI at the upper edge; the lower edge is 0.
    let top: Double
    let scale: Scale

    /// - Parameter points: in time order, at least one.
    init(_ points: [HistoryPoint], _ query: ChartQuery, at now: Timestamp, scale: Scale) {
        oldest = points[0].time
        let newest = points[points.count - 1].time
        // A margin keeps the first and last points whole, and gives a single point some time around it.
        let margin = max(1000, (query.range?.milliseconds ?? newest - oldest) / 40)
        let start =
            query.from ?? query.range.map { now - $0.milliseconds } ?? min(oldest, query.to ?? .max) - margin
        let end = query.to ?? max(query.range == nil ? newest : now, start) + margin
        let first = points.firstIndex { $0.time >= start } ?? points.endIndex
        let last = points[first...].firstIndex { $0.time > end } ?? points.endIndex
        let shown = points[first..<last]
        self.points = thinned(Array(shown), to: 600)
        count = shown.count
        let line = points[max(0, first - 1)..<first] + self.points + points[last...].prefix(1)
        let steps = zip(points, points.dropFirst()).map { $1.time - $0.time }.sorted()
        // Thinning widens the usual distance between points.
        let thinning = Int64(max(1, 2 * count / max(1, self.points.count) - 1))
        let usual = steps.count > 2 ? min(steps[(steps.count - 1) * 9 / 10], 3 * steps[steps.count / 2]) : .max / 3
        let limit = usual > .max / 3 / thinning ? .max : 3 * usual * thinning
        runs = line.reduce(into: []) { runs, point in
            if let last = runs.last?.last, point.time - last.time <= limit {
                runs[runs.count - 1].append(point)
            } else {
                runs.append([point])
            }
        }
        from = start
        to = end
        top = scale.top(over: points)
        self.scale = scale
    }

    func x(_ time: Timestamp) -> Double { Double(time - from) / Double(to - from) }

    func y(_ aqi: Double) -> Double { (top - aqi) / top }

    /// The bands in view, lowest first.
    var bands: [(category: Category, top: Double, bottom: Double)] {
        let ends = scale.categories.dropFirst().map(\.from) + [.infinity]
        return zip(scale.categories, ends).filter { category, _ in category.from < top }
            .map { category, end in (category, y(min(end, top)), y(category.from)) }
    }

    /// The labelled values of the AQI axis: its end, and where bands begin if there is room.
    var levels: [Double] {
        scale.categories.map(\.from).reversed().reduce(into: [top]) { levels, bound in
            if levels[levels.count - 1] - bound > top / 16 { levels.append(bound) }
        }
    }

    /// Milliseconds between the labelled times of the time axis.
    var tickStep: Int64 {
        let steps: [Int64] = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200]
        let span = to - from
        return steps.first { span / ($0 * 1000) < 6 }.map { $0 * 1000 } ?? (span / 6 / 86_400_000 + 1) * 86_400_000
    }

    /// The labelled times of the time axis: round ones in UTC, at most six. page.js moves them to the reader's.
    var ticks: [Timestamp] {
        Array(stride(from: (from + tickStep - 1) / tickStep * tickStep, through: to, by: Int(tickStep)))
    }

    var pattern: ClockPattern { ClockPattern(span: to - from) }
}

extension Scale {
    /// Returns the upper end of an AQI axis: the upper bound of the category with the highest point, or of the next
    /// one if the point is close to it, so that noise does not look like a change.
    func top(over points: [HistoryPoint]) -> Double {
        let highest = points.reduce(1) { max($0, $1.aqi) } * 1.05
        return categories.map(\.from).first { $0 > highest } ?? (highest / 100).rounded(.up) * 100
    }
}

/// Returns about `count` points: the lowest and highest of each stretch, and the first and last of all.
func thinned(_ points: [HistoryPoint], to count: Int) -> [HistoryPoint] {
    guard points.count > count else { return points }
    let length = (2 * points.count + count - 1) / count
    return stride(from: 0, to: points.count, by: length).flatMap { start in
        let places = start..<min(start + length, points.count)
        let extremes = [
            places.min { points[$0].aqi < points[$1].aqi }, places.max { points[$0].aqi < points[$1].aqi },
            places.first { $0 == 0 || $0 == points.count - 1 },
        ]
        return Set(extremes.compactMap(\.self)).sorted().map { points[$0] }
    }
}
