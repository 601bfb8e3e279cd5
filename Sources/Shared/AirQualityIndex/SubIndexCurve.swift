/// A piecewise linear function from concentration to sub-index, one segment per class. It extrapolates the last one.
struct SubIndexCurve: Sendable {
    let step: Double
    private(set) var points: [(concentration: Double, subIndex: Double)] = []

    /// - Parameters:
    ///   - classes: the index range of each class.
    ///   - start: the concentration at which the first class begins.
    ///   - ends: the concentration at which each class ends.
    ///   - step: the gap between the end of a class and the start of the next, as in the published table.
    init(_ classes: [ClosedRange<Double>], from start: Double = 0, upTo ends: [Double], step: Double) {
        self.step = step
        var start = start
        for (range, end) in zip(classes, ends) {
            points += [(start, range.lowerBound), (end, range.upperBound)]
            start = end + step
        }
    }

    var start: Double { points[0].concentration }

    /// Returns the unrounded sub-index; `nil` below the start of the curve.
    func subIndex(_ concentration: Double) -> Double? {
        guard concentration >= start else { return nil }
        let above = points.dropFirst().firstIndex { concentration <= $0.concentration } ?? points.count - 1
        let low = points[above - 1]
        let high = points[above]
        let share = (concentration - low.concentration) / (high.concentration - low.concentration)
        return low.subIndex + share * (high.subIndex - low.subIndex)
    }

    /// Returns the unrounded sub-index of the truncated concentration.
    func truncatedSubIndex(_ concentration: Double) -> Double? { subIndex(truncated(concentration)) }

    /// Truncates to a multiple of the step, with tolerance for tenths, which binary fractions cannot represent exactly.
    func truncated(_ concentration: Double) -> Double {
        let steps = (concentration / step + 1e-9).rounded(.down)
        return step == 1 ? steps : steps / (1 / step)
    }
}
