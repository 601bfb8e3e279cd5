/// Conversion of a concentration to a sub-index: classes, each with a range of concentrations and one of the index, and
/// straight lines between their ends. The last line goes on above its end.
struct SubIndexCurve: Sendable {
    private var points: [(concentration: Double, index: Double)] = []

    /// - Parameters:
    ///   - classes: the index range of each class.
    ///   - start: the concentration at which the first class begins.
    ///   - ends: the concentration at which each class ends.
    ///   - step: from the end of a class to the beginning of the next one, as the table prints them.
    init(_ classes: [ClosedRange<Double>], from start: Double = 0, upTo ends: [Double], step: Double) {
        for (range, (start, end)) in zip(classes, zip([start] + ends.map { $0 + step }, ends)) {
            points += [(start, range.lowerBound), (end, range.upperBound)]
        }
    }

    var start: Double { points[0].concentration }

    /// The sub-index, not rounded; `nil` below the curve's start.
    func index(_ concentration: Double) -> Double? {
        guard concentration >= start else { return nil }
        let above = points.dropFirst().firstIndex { concentration <= $0.concentration } ?? points.count - 1
        let low = points[above - 1]
        let high = points[above]
        let share = (concentration - low.concentration) / (high.concentration - low.concentration)
        return low.index + share * (high.index - low.index)
    }
}
