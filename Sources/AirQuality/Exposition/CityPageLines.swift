/// The lines of the cities of one page of the store's order, by family.
struct CityPageLines: Sendable {
    /// The page's when this was rendered anew; 0 before.
    private(set) var layoutVersion: UInt64 = 0
    private var families: InlineArray<6, CityLines> = .init(repeating: CityLines())
    private var cityCount = 0
    /// Which of the page's cities had a reading since: a bit for each.
    private var marks: [UInt64] = []
    private var isMarked = false

    init() {}

    /// Writes the texts of the page, at this place among the pages.
    init(
        _ page: CityPage, at place: Int, _ snapshot: StoreSnapshot, parts: [[CityFamily.LineParts]],
        texts: inout PageTexts, memory: inout UpdateMemory
    ) {
        layoutVersion = page.layoutVersion
        cityCount = page.cities.count
        marks = Array(repeating: 0, count: (page.cities.count + 63) / 64)
        var names = EscapedNames()
        memory.changed.removeAll(keepingCapacity: true)
        for position in page.cities.indices {
            let city = Int(page.cities[position])
            names.append(snapshot.name(city))
            memory.changed.append(snapshot.city(city, at: position))
        }
        for family in CityFamily.allCases {
            memory.values.removeAll(keepingCapacity: true)
            family.appendValues(of: memory.changed, to: &memory.values)
            texts.edit(family, at: place) { text in
                families[family.rawValue] = CityLines(
                    memory.values, names: names, parts: parts[family.rawValue], text: &text)
            }
        }
    }

    /// Notes that the city at this place of the page had a reading. There need not be such a place.
    mutating func mark(_ position: Int) {
        guard position < cityCount else { return }
        marks[position / 64] |= 1 << UInt64(position % 64)
        isMarked = true
    }

    /// Writes the values anew that readings have changed.
    ///
    /// - Parameter version: the store's when this was last done.
    mutating func update(
        _ page: CityPage, at place: Int, _ snapshot: StoreSnapshot, since version: UInt64,
        parts: [[CityFamily.LineParts]], texts: inout PageTexts, memory: inout UpdateMemory
    ) {
        guard isMarked else { return }
        isMarked = false
        takeMarks(page, snapshot, since: version, into: &memory)
        for family in CityFamily.allCases {
            memory.values.removeAll(keepingCapacity: true)
            family.appendValues(
                of: family.changesWithCategory ? memory.recategorized : memory.changed, to: &memory.values)
            guard !memory.values.isEmpty else { continue }
            texts.edit(family, at: place) { text in
                families[family.rawValue].update(
                    &text, memory.values, snapshot, parts: parts[family.rawValue], memory: &memory.lines)
            }
        }
    }

    /// What an update needs for a moment, kept to save the allocations.
    struct UpdateMemory: Sendable {
        fileprivate var changed: [PageCity] = []
        /// Of them, those that changed their category.
        fileprivate var recategorized: [PageCity] = []
        fileprivate var values: [LineValue] = []
        fileprivate var lines = CityLines.UpdateMemory()
    }

    private mutating func takeMarks(
        _ page: CityPage, _ snapshot: StoreSnapshot, since version: UInt64, into memory: inout UpdateMemory
    ) {
        memory.changed.removeAll(keepingCapacity: true)
        memory.recategorized.removeAll(keepingCapacity: true)
        for word in marks.indices where marks[word] != 0 {
            var rest = marks[word]
            marks[word] = 0
            while rest != 0 {
                let position = word * 64 + rest.trailingZeroBitCount
                rest &= rest - 1
                let city = snapshot.city(Int(page.cities[position]), at: position)
                memory.changed.append(city)
                if city.state.categoryVersion > version { memory.recategorized.append(city) }
            }
        }
    }
}

extension StoreSnapshot {
    func name(_ city: Int) -> ArraySlice<UInt8> {
        names.bytes[states[city].nameRange]
    }

    @inline(__always)
    fileprivate func city(_ city: Int, at position: Int) -> PageCity {
        PageCity(position: position, city: city, state: states[city])
    }
}
