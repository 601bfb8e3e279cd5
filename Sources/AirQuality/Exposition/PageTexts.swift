/// The texts that a scrape gets, one after the other: for each family of the cities a header and the lines of each page of
/// cities, then the rest, then the end.
///
/// They are changed where they are kept, and who gets them shares them: only while an answer still sends them, what
/// changes is copied first.
struct PageTexts: Sendable {
    private(set) var texts: [[UInt8]] = Array(repeating: [], count: CityFamily.allCases.count + 1)
    /// Of each text but the end. Equal numbers mean equal bytes.
    private(set) var numbers: [UInt64] = Array(repeating: 0, count: CityFamily.allCases.count)
    private var lastNumber: UInt64 = 0
    /// The numbers of the pages of cities, in their order.
    private var sequence: [UInt32] = []

    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    @inline(__always)
    private func index(_ family: CityFamily, at place: Int) -> Int {
        family.rawValue &* (sequence.count &+ 1) &+ 1 &+ place
    }

    private var cityTextCount: Int { CityFamily.allCases.count * (sequence.count + 1) }

    /// Has the pages of cities follow each other like this. What they say stays.
    mutating func arrange(_ sequence: [UInt32]) {
        guard sequence != self.sequence else { return }
        let old = self
        let oldPlaces = Dictionary(uniqueKeysWithValues: old.sequence.enumerated().map { ($1, $0) })
        self.sequence = sequence
        texts = Array(repeating: [], count: cityTextCount + 1)
        numbers = Array(repeating: 0, count: cityTextCount)
        for (place, page) in sequence.enumerated() {
            guard let oldPlace = oldPlaces[page] else { continue }
            for family in CityFamily.allCases {
                texts[index(family, at: place)] = old.texts[old.index(family, at: oldPlace)]
                numbers[index(family, at: place)] = old.numbers[old.index(family, at: oldPlace)]
            }
        }
    }

    /// Changes the lines of a family for the page of cities at this place.
    @inline(__always)
    mutating func edit(_ family: CityFamily, at place: Int, _ body: (inout [UInt8]) -> Void) {
        let index = index(family, at: place)
        numbers[index] = nextNumber()
        body(&texts[index])
    }

    /// - Parameters:
    ///   - headers: of the families of the cities; one without lines is left out.
    ///   - rest: what follows the cities.
    mutating func set(headers: [ExpositionBlock], rest: [ExpositionBlock]) {
        for family in CityFamily.allCases {
            let lines = index(family, at: 0)..<index(family, at: sequence.count)
            let isShown = texts[lines].contains { !$0.isEmpty }
            texts[lines.lowerBound - 1] = isShown ? headers[family.rawValue].bytes : []
            numbers[lines.lowerBound - 1] = isShown ? headers[family.rawValue].number : 0
        }
        texts.removeSubrange(cityTextCount...)
        numbers.removeSubrange(cityTextCount...)
        for block in rest {
            texts.append(block.bytes)
            numbers.append(block.number)
        }
        texts.append([])
    }

    mutating func set(end: [UInt8]) {
        texts[texts.count - 1] = end
    }
}
