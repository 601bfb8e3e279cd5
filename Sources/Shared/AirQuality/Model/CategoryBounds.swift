/// The boundaries of a scale without its names: what every reading is compared with.
struct CategoryBounds: Sendable {
    /// The lower bound of category `n` is at `n`; infinite beyond the last one.
    private var from: InlineArray<8, Double> = .init(repeating: .infinity)

    init(_ scale: Scale) {
        precondition(scale.categories.count <= 6)
        from[0] = -.infinity
        for category in scale.categories { from[Int(category.number)] = category.from }
    }

    /// The number of the category that an index lies in.
    func category(of index: Double) -> UInt8 {
        // Without branches, which a processor cannot foretell.
        var number: UInt8 = 1
        for next in 2...6 { number += index >= from[next] ? 1 : 0 }
        return number
    }
}
