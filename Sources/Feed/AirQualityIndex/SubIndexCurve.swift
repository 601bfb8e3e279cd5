/// Conversion of a concentration to a sub-index: classes, each with a range of concentrations and one of the index, and
/// straight lines between their ends.
struct SubIndexCurve: Sendable {
    private let points: [(concentration: Double, index: Double)]

    /// - Parameters:
    ///   - classes: the index range of each class.
    ///   - start: the concentration at which the first class begins.
    ///   - ends: the concentration at which each class ends.
    ///   - step: from the end of a class to the beginning of the next one, as the table prints them.
    ///   - openClass: where the class begins that has no end.
    init(
        _ classes: [ClosedRange<Double>], from start: Double = 0, upTo ends: [Double], step: Double,
        openClass: Double? = nil
    ) {
        var points: [(concentration: Double, index: Double)] = []
        for (range, (start, end)) in zip(classes, zip([start] + ends.map { $0 + step }, ends)) {
            points += [(start, range.lowerBound), (end, range.upperBound)]
        }
        let last = points[points.count - 1]
        let first = points[points.count - 2]
        slope = (last.index - first.index) / (last.concentration - first.concentration)
        if let openClass { points.append((last.concentration + step, openClass)) }
        self.points = points
    }

    /// Slope of the last class with an end; the curve goes on with it above the last point.
    private let slope: Double

    var start: Double { points[0].concentration }

    /// The sub-index, not rounded; `nil` below the curve's start.
    func index(_ concentration: Double) -> Double? {
        guard concentration >= start else { return nil }
        guard let above = points.firstIndex(where: { concentration <= $0.concentration }) else {
            let last = points[points.count - 1]
            return last.index + (concentration - last.concentration) * slope
        }
        guard above > 0 else { return points[0].index }
        let low = points[above - 1]
        let high = points[above]
        let share = (concentration - low.concentration) / (high.concentration - low.concentration)
        return low.index + share * (high.index - low.index)
    }
}
