internal import Bytes

/// A table that maps an AQI to a category.
///
/// Each category extends from its own `from` up to, but excluding, the next one's: 50.23 and 50.99 are Good on the
/// Indian scale, 51 is Satisfactory. The last one has no upper bound.
public struct Scale: Sendable, Equatable {
    public var name: String
    /// Display name, shown beside every AQI.
    public var title: String
    /// Publisher and year of the rules.
    public var authority: String
    public var categories: [Category]
    /// Lower bounds of the second and later categories, padded with infinity.
    private var bounds = SIMD8(repeating: Double.infinity)

    private init(
        _ name: String, title: String, authority: String, categories: [(name: String, from: Double, color: String)],
        health: [(effect: String, sport: String, sensitive: String)]
    ) {
        self.name = name
        self.title = title
        self.authority = authority
        for index in categories.indices.dropFirst() { bounds[index - 1] = categories[index].from }
        let faces = ["😀", "🙂", "😐", "😷", "🤢", "☠️"]
        self.categories = categories.indices.map { index in
            let (name, from, color) = categories[index]
            return Category(
                number: UInt8(index + 1), name: name, from: from, color: color, face: faces[index],
                healthStatement: health[index].effect, sportAdvice: health[index].sport,
                sensitiveAdvice: health[index].sensitive)
        }
    }

    /// Returns the number of an AQI's category, from 1.
    @inline(__always)
    public func category(of aqi: Double) -> UInt8 {
        // Branch-free, because the category is unpredictable.
        1 + UInt8(SIMD8<Int64>.zero.replacing(with: 1, where: bounds .<= aqi).wrappedSum())
    }
}

extension Scale {
    /// All scales; `--aqi.scale` takes their names.
    public static let all: [Scale] = [india, us, eu]

    /// India's National Air Quality Index: Central Pollution Control Board, 2014.
    /// Effects: its "About AQI". Advice: SAFAR, Ministry of Earth Sciences, which issues the public advisories for this
    /// AQI, shortened.
    public static let india = Scale(
        "india", title: "AQI India", authority: "Central Pollution Control Board, 2014",
        categories: [
            ("Good", 0, "#41803C"),
            ("Satisfactory", 51, "#ACCD60"),
            ("Moderate", 101, "#FFF833"),
            ("Poor", 201, "#F5AA50"),
            ("Very Poor", 301, "#D2392E"),
            ("Severe", 401, "#7F1D1D"),
        ],
        health: [
            ("Minimal impact.", "A good day for sport outdoors.", "No precautions are needed."),
            (
                "Minor breathing discomfort to sensitive people.", "Fine for most people.",
                "Consider less prolonged or heavy exertion outdoors."
            ),
            (
                "Breathing discomfort to people with lung disease, asthma or heart disease.",
                "Fine for healthy people; slow down if you cough or are short of breath.",
                "Reduce prolonged or heavy exertion outdoors; keep relief medicine handy."
            ),
            (
                "Breathing discomfort to most people on prolonged exposure.",
                "Reduce prolonged or heavy exertion; take more breaks.",
                "Avoid prolonged or heavy exertion outdoors, or move it indoors."
            ),
            (
                "Respiratory illness on prolonged exposure.",
                "Avoid prolonged or heavy exertion: a short walk instead of a jog.",
                "Avoid all physical activity outdoors; move it indoors."
            ),
            (
                "Affects healthy people and seriously impacts those with existing diseases.",
                "Avoid all physical activity outdoors.", "Remain indoors and keep activity low."
            ),
        ])

    /// The Air Quality Index of the United States: EPA-454/B-24-002, 2024.
    /// Effects: Environmental Protection Agency, "AQI Basics". Advice: its "Air Quality Guide for Particle Pollution"
    /// on AirNow, shortened.
    public static let us = Scale(
        "us", title: "US AQI", authority: "Environmental Protection Agency, 2024",
        categories: [
            ("Good", 0, "#62EE62"),
            ("Moderate", 51, "#FFFF00"),
            ("Unhealthy for Sensitive Groups", 101, "#FFA349"),
            ("Unhealthy", 151, "#E60000"),
            ("Very Unhealthy", 201, "#8F3F97"),
            ("Hazardous", 301, "#7E0023"),
        ],
        health: [
            (
                "Air pollution poses little or no risk.", "A great day to be active outside.",
                "A great day to be active outside."
            ),
            (
                "A risk for people who are unusually sensitive.", "A good day to be active outside.",
                "If unusually sensitive, make outdoor activities shorter and less intense."
            ),
            (
                "Sensitive groups may experience health effects.", "Fine for people outside the sensitive groups.",
                "Make outdoor activities shorter and less intense; take more breaks."
            ),
            (
                "Some people may experience health effects.", "Reduce long or intense activities; take more breaks.",
                "Avoid long or intense outdoor activities, or move them indoors."
            ),
            (
                "The risk is increased for everyone.", "Avoid long or intense activities, or move them indoors.",
                "Avoid all physical activity outdoors."
            ),
            (
                "Emergency conditions: everyone is likely to be affected.", "Avoid all physical activity outdoors.",
                "Remain indoors and keep activity low."
            ),
        ])

    /// The European Air Quality Index as a number, 0 … 100 and above, as Open-Meteo reports it.
    /// Advice: European Environment Agency, messages to the general and to sensitive populations, shortened. It states
    /// no effects.
    public static let eu = Scale(
        "eu", title: "European AQI", authority: "European Environment Agency, as a number",
        categories: [
            ("Good", 0, "#50F0E6"),
            ("Fair", 20, "#6EDCBD"),
            ("Moderate", 40, "#F0E641"),
            ("Poor", 60, "#FF9999"),
            ("Very Poor", 80, "#960032"),
            ("Extremely Poor", 100, "#7D2181"),
        ],
        health: [
            (
                "The air quality is good.", "Enjoy your usual outdoor activities.",
                "Enjoy your usual outdoor activities."
            ),
            (
                "The air quality is fair.", "Enjoy your usual outdoor activities.",
                "Enjoy your usual outdoor activities."
            ),
            (
                "The air quality is moderate.", "Enjoy your usual outdoor activities.",
                "Consider reducing intense outdoor activities if you have symptoms."
            ),
            (
                "The air quality is poor.",
                "Consider reducing intense activities outdoors if you have sore eyes, a cough or a sore throat.",
                "Consider reducing physical activities, particularly outdoors."
            ),
            (
                "The air quality is very poor.",
                "Consider reducing intense activities outdoors if you have sore eyes, a cough or a sore throat.",
                "Reduce physical activities, particularly outdoors."
            ),
            (
                "The air quality is extremely poor.", "Reduce physical activities outdoors.",
                "Avoid physical activities outdoors."
            ),
        ])
}
