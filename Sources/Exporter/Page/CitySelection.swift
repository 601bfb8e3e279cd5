import AirQuality
import Bytes

/// The cities that a list shows, and how many there are of each kind.
struct CitySelection {
    /// Rows of a page of the list.
    static let pageSize = 100

    /// Of the page, in order.
    private(set) var cities: [Int] = []
    /// Of the cities that the search finds, at the category's number; 0 is for all.
    private(set) var counts = [Int](repeating: 0, count: 7)
    /// Of the cities that the search and the category leave.
    private(set) var count = 0
    private(set) var page = 1
    private(set) var pageCount = 1
    /// The city whose category changed last, of those counted.
    private(set) var lastChanged: Int?
    /// When the newest reading of all cities was.
    private(set) var newest: Timestamp?
    /// For a map: of the cities that the search and the category leave, those whose place is known, the worst first.
    private(set) var dots: [Int] = []
    /// For a map: where all cities are.
    private(set) var area: MapArea?

    init(_ snapshot: StoreSnapshot, query: ListQuery) {
        let search = query.search.isEmpty ? nil : NameSearch(query.search)
        let wanted = min(query.page, snapshot.cityCount / Self.pageSize + 1) * Self.pageSize
        var found = FirstEntries(count: wanted)
        var lastChange = Timestamp.min
        var dots = FirstEntries(count: CityMap.maximumDots)
        for (place, city) in snapshot.order.enumerated() {
            let state = snapshot.states[city]
            newest = max(newest ?? .min, state.updatedAt)
            let coordinates = query.hasMap ? snapshot.states[city].extras?.place?.coordinates : nil
            if let coordinates { area = MapArea(area, with: coordinates) }
            if let search, !search.matches(state.name.span) { continue }
            counts[0] += 1
            counts[Int(state.category)] += 1
            if let changedAt = state.changes.changedAt, changedAt > lastChange {
                (lastChange, lastChanged) = (changedAt, city)
            }
            if let category = query.category, category != state.category { continue }
            count += 1
            let key: UInt64 =
                switch query.sort {
                // The bits of two doubles that are not negative compare as the doubles do.
                case .index: ~state.index.bitPattern
                case .name: UInt64(place)
                case .changed: UInt64(clamping: Int64.max - (state.changes.changedAt ?? 0))
                }
            found.append(Entry(key: key, place: UInt32(place), city: UInt32(city)))
            guard coordinates != nil else { continue }
            dots.append(Entry(key: ~state.index.bitPattern, place: UInt32(place), city: UInt32(city)))
        }
        self.dots = dots.sorted.map { Int($0.city) }
        pageCount = max(1, (count + Self.pageSize - 1) / Self.pageSize)
        page = min(query.page, pageCount)
        cities = found.sorted.dropFirst((page - 1) * Self.pageSize).prefix(Self.pageSize).map { Int($0.city) }
    }
}

private struct Entry: Comparable {
    var key: UInt64
    /// By name, which decides between equal keys.
    var place: UInt32
    var city: UInt32

    static func < (one: Entry, other: Entry) -> Bool {
        one.key != other.key ? one.key < other.key : one.place < other.place
    }
}

/// The first entries in order of many: sorting all 100,000 would take the serving thread several times as long.
private struct FirstEntries {
    let count: Int
    var kept: [Entry] = []
    /// None from here on is among the first.
    var bound: Entry?

    mutating func append(_ entry: Entry) {
        if let bound, bound < entry { return }
        kept.append(entry)
        if kept.count == 2 * count {
            kept = Array(kept.sorted().prefix(count))
            bound = kept.last
        }
    }

    var sorted: [Entry] { Array(kept.sorted().prefix(count)) }
}

extension StoreSnapshot {
    /// The first city whose name differs from one in the case of its letters and the marks on them alone.
    func similar(to name: [UInt8]) -> Int? {
        let search = NameSearch(name)
        guard !name.isEmpty else { return nil }
        return order.first { city in
            let other = states[city].name
            return search.matches(other.span, whole: true)
        }
    }
}

/// Looks for a part of a name, whatever the case of its letters and the marks on them.
private struct NameSearch {
    private let part: [UInt8]

    init(_ part: [UInt8]) { self.part = foldedName(part) }

    func matches(_ name: Span<UInt8>, whole: Bool = false) -> Bool {
        // Without a copy of a name that is ASCII.
        if name.indices.allSatisfy({ name[$0] < 0x80 }) { return isIn(name, whole) }
        return isIn(foldedName(name.indices.map { name[$0] }).span, whole)
    }

    private func isIn(_ name: Span<UInt8>, _ isWhole: Bool) -> Bool {
        guard isWhole ? name.count == part.count : name.count >= part.count else { return false }
        for start in 0...name.count - part.count {
            var place = 0
            while place < part.count, lowercase(name[start + place]) == part[place] { place += 1 }
            if place == part.count { return true }
        }
        return false
    }
}

/// In lower case, and Latin letters without their marks.
private func foldedName(_ name: some Sequence<UInt8>) -> [UInt8] {
    var folded = ""
    for scalar in String(decoding: Array(name), as: UTF8.self).lowercased().unicodeScalars {
        switch scalar.value {
        // Combining marks.
        case 0x300...0x36F: continue
        case 0xC0...0x24F, 0x1E00...0x1EFF: folded.unicodeScalars.append(unmarked(scalar))
        default: folded.unicodeScalars.append(scalar)
        }
    }
    return Array(folded.utf8)
}

/// The letter that a Latin letter's name in Unicode begins with: "LATIN SMALL LETTER O WITH STROKE" is an o.
private func unmarked(_ letter: Unicode.Scalar) -> Unicode.Scalar {
    guard let words = letter.properties.name?.split(separator: " "), words.count > 4, words[3].utf8.count == 1,
        words[4] == "WITH", let plain = words[3].lowercased().unicodeScalars.first
    else { return letter }
    return plain
}
