internal import Bytes

/// One band of a scale.
public struct Category: Sendable, Equatable {
    /// 1 for the best, counting up.
    public var number: UInt8
    public var name: String
    /// The index from which on the category applies.
    public var from: Double
    /// `#RRGGBB`: chosen so that Grafana's automatic text colour on it has a contrast of 4.5 : 1 at least.
    public var color: String
    public var face: String
}

/// The table that turns an index into a category.
///
/// Each category reaches from its own `from` up to, and without, the next one's: 50.23 and 50.99 are Good on the Indian
/// scale, 51 is Satisfactory. The last one is open upwards.
public struct Scale: Sendable, Equatable {
    public var name: String
    /// For people: stands beside every number of this index.
    public var title: String
    /// Who made the rules, and when.
    public var authority: String
    public var categories: [Category]

    /// The category that a city holds after a reading.
    ///
    /// With hysteresis, a city keeps the category it holds until the index is at least that far past the boundary; if
    /// the index is past several, the farthest one passed by that much counts.
    ///
    /// - Parameter held: the number of the category held before; nil for a city's first reading.
    public func category(of index: Double, held: UInt8?, hysteresis: Double) -> UInt8 {
        CategoryBounds(self, hysteresis: hysteresis).category(of: index, held: held)
    }
}

/// The boundaries of a scale, without its names: what every reading is compared with.
struct CategoryBounds: Sendable {
    /// Where category `n` begins is at `n`; beyond the last one infinite.
    private var from: InlineArray<8, Double> = .init(repeating: .infinity)
    private let hysteresis: Double

    init(_ scale: Scale, hysteresis: Double) {
        precondition(scale.categories.count <= 6)
        from[0] = -.infinity
        for category in scale.categories { from[Int(category.number)] = category.from }
        self.hysteresis = hysteresis
    }

    /// The category that the index lies in, whatever is held.
    private func category(of index: Double) -> UInt8 {
        var number = 1
        while number < 6, index >= from[number + 1] { number += 1 }
        return UInt8(number)
    }

    func category(of index: Double, held: UInt8?) -> UInt8 {
        let plain = category(of: index)
        guard let held, held != plain, hysteresis > 0 else { return plain }
        return category(of: index, in: plain, held: held)
    }

    private func category(of index: Double, in plain: UInt8, held: UInt8) -> UInt8 {
        var candidate = plain
        if plain > held {
            // Going up, the boundary to pass is the lower end of the category.
            while candidate > held && index < from[Int(candidate)] + hysteresis { candidate -= 1 }
        } else {
            // Going down, it is the upper end of the category, where the next one begins.
            while candidate < held && index > from[Int(candidate) + 1] - hysteresis { candidate += 1 }
        }
        return candidate
    }
}

extension Scale {
    /// Every scale there is, by the name that `--aqi.scale` takes.
    public static let all: [Scale] = [india, us, eu]

    /// India's National Air Quality Index: Central Pollution Control Board, 2014.
    public static let india = Scale(
        name: "india", title: "AQI India", authority: "Central Pollution Control Board, 2014",
        categories: [
            Category(number: 1, name: "Good", from: 0, color: "#41803C", face: "😀"),
            Category(number: 2, name: "Satisfactory", from: 51, color: "#ACCD60", face: "🙂"),
            Category(number: 3, name: "Moderate", from: 101, color: "#FFF833", face: "😐"),
            Category(number: 4, name: "Poor", from: 201, color: "#F5AA50", face: "😷"),
            Category(number: 5, name: "Very Poor", from: 301, color: "#D2392E", face: "🤢"),
            Category(number: 6, name: "Severe", from: 401, color: "#7F1D1D", face: "☠️"),
        ])

    /// The Air Quality Index of the United States: EPA-454/B-24-002, 2024.
    public static let us = Scale(
        name: "us", title: "US AQI", authority: "Environmental Protection Agency, 2024",
        categories: [
            Category(number: 1, name: "Good", from: 0, color: "#62EE62", face: "😀"),
            Category(number: 2, name: "Moderate", from: 51, color: "#FFFF00", face: "🙂"),
            Category(number: 3, name: "Unhealthy for Sensitive Groups", from: 101, color: "#FFA349", face: "😐"),
            Category(number: 4, name: "Unhealthy", from: 151, color: "#E60000", face: "😷"),
            Category(number: 5, name: "Very Unhealthy", from: 201, color: "#8F3F97", face: "🤢"),
            Category(number: 6, name: "Hazardous", from: 301, color: "#7E0023", face: "☠️"),
        ])

    /// The European Air Quality Index as a number, 0 … 100 and beyond, as Open-Meteo gives it.
    public static let eu = Scale(
        name: "eu", title: "European AQI", authority: "European Environment Agency, as a number",
        categories: [
            Category(number: 1, name: "Good", from: 0, color: "#50F0E6", face: "😀"),
            Category(number: 2, name: "Fair", from: 20, color: "#50CCAA", face: "🙂"),
            Category(number: 3, name: "Moderate", from: 40, color: "#F0E641", face: "😐"),
            Category(number: 4, name: "Poor", from: 60, color: "#FF8080", face: "😷"),
            Category(number: 5, name: "Very Poor", from: 80, color: "#960032", face: "🤢"),
            Category(number: 6, name: "Extremely Poor", from: 100, color: "#7D2181", face: "☠️"),
        ])
}

extension Scale {
    static let families: [Family<Scale>] = [
        Family(
            "airquality_category_info", .gauge, labels: ["scale", "category", "name", "from", "color", "face"],
            "Categories of the scale in use; each starts at the index in the label from."
        ) { scale, add in
            for category in scale.categories {
                var from: [UInt8] = []
                from.appendNumber(category.from)
                add(
                    [
                        LabelValue(scale.name), LabelValue(String(category.number)), LabelValue(category.name),
                        LabelValue(from), LabelValue(category.color), LabelValue(category.face),
                    ], .number(1))
            }
        }
    ]
}
