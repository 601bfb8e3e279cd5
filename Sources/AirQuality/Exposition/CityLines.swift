/// The samples of one family for the cities of one page: text that is kept and edited where a value changed.
struct CityLines: Sendable {
    private(set) var text: [UInt8] = []
    /// Where each city's samples end.
    private var ends: [UInt32] = []
    /// Unique for each state of the text.
    private(set) var number: UInt64 = 0

    init() {}

    /// - Parameters:
    ///   - count: cities.
    ///   - append: writes the samples of the city at an index, if it has any.
    init(count: Int, number: UInt64, sizeHint: Int, append: (_ index: Int, _ text: inout [UInt8]) -> Void) {
        self.number = number
        text.reserveCapacity(sizeHint)
        ends.reserveCapacity(count)
        for index in 0..<count {
            append(index, &text)
            ends.append(UInt32(text.count))
        }
    }

    /// Writes the samples anew of the cities that changed.
    mutating func update(
        number: UInt64, isChanged: (Int) -> Bool, append: (_ index: Int, _ text: inout [UInt8]) -> Void
    ) {
        var updated: [UInt8] = []
        updated.reserveCapacity(text.count + 64)
        var copied = 0
        var start = 0
        var shift = 0
        for index in ends.indices {
            let end = Int(ends[index])
            if isChanged(index) {
                updated.append(contentsOf: text[copied..<start])
                append(index, &updated)
                copied = end
                shift = updated.count - end
            }
            start = end
            ends[index] = UInt32(end + shift)
        }
        updated.append(contentsOf: text[copied...])
        text = updated
        self.number = number
    }
}
