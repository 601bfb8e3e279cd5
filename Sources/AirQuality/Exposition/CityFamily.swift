/// A family whose series are the cities'.
enum CityFamily: Int, CaseIterable, Sendable {
    case index, category, categoryDirection, categoryChangedAt, categoryChanges, lastUpdateAt

    var family: MetricFamily {
        switch self {
        case .index: .index
        case .category: .category
        case .categoryDirection: .categoryDirection
        case .categoryChangedAt: .categoryChangedAt
        case .categoryChanges: .categoryChanges
        case .lastUpdateAt: .lastUpdateAt
        }
    }

    /// Whether a value is another only when the city has changed its category; the others are with every reading.
    var changesWithCategory: Bool {
        self != .index && self != .lastUpdateAt
    }

    /// Series of one city.
    var seriesCount: Int {
        self == .categoryChanges ? 2 : 1
    }

    /// Adds what the lines of these cities are to say, in the order of the cities. A series without a value is left out.
    func appendValues(of cities: [PageCity], to values: inout [LineValue]) {
        values.append(addingCapacity: cities.count * seriesCount) { values in
            switch self {
            case .index:
                for city in cities { values.append(LineValue(city, DecimalText(shortest: city.state.index))) }
            case .category:
                for city in cities { values.append(LineValue(city, DecimalText(UInt64(city.state.category)))) }
            case .categoryDirection:
                for city in cities { values.append(LineValue(city, DecimalText(sign: city.state.changes.direction))) }
            case .categoryChangedAt:
                for city in cities {
                    guard let time = city.state.changes.changedAt else { continue }
                    values.append(LineValue(city, DecimalText(seconds: time)))
                }
            case .categoryChanges:
                for city in cities {
                    values.append(LineValue(city, DecimalText(city.state.changes.better), series: 0, of: seriesCount))
                    values.append(LineValue(city, DecimalText(city.state.changes.worse), series: 1, of: seriesCount))
                }
            case .lastUpdateAt:
                for city in cities { values.append(LineValue(city, DecimalText(seconds: city.state.updatedAt))) }
            }
        }
    }

    /// What stands on a line around the name of the city.
    struct LineParts: Sendable {
        var beforeName: [UInt8]
        var afterName: [UInt8]
    }

    /// Of each of its series.
    var lineParts: [LineParts] {
        let beginning = Array("\(family.name){\(family.labels[0])=\"".utf8)
        guard self == .categoryChanges else { return [LineParts(beforeName: beginning, afterName: Array("\"} ".utf8))] }
        return ["better", "worse"].map { direction in
            LineParts(
                beforeName: beginning, afterName: Array("\",\(family.labels[1])=\"\(direction)\"} ".utf8))
        }
    }
}

/// A city of a page and what is known of it.
struct PageCity: Sendable {
    /// Its place in the page.
    var position: Int
    /// Its number.
    var city: Int
    var state: CityState
}

/// What a line is to say.
struct LineValue: Sendable {
    /// Which of its family's lines in the page.
    var line: Int
    var city: Int
    var value: DecimalText

    @inline(__always)
    init(_ city: PageCity, _ value: DecimalText, series: Int = 0, of seriesCount: Int = 1) {
        line = city.position &* seriesCount &+ series
        self.city = city.city
        self.value = value
    }
}
