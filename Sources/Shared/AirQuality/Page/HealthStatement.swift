extension Scale {
    /// What the air of a category does to people, and what they should do.
    func healthStatement(of category: UInt8) -> String {
        let statements =
            switch name {
            case "us": Self.americanStatements
            case "eu": Self.europeanStatements
            default: Self.indianStatements
            }
        return statements[Int(category) - 1]
    }

    /// Effects: Central Pollution Control Board, "About AQI". Advice: SAFAR, Ministry of Earth Sciences, shortened.
    private static let indianStatements = [
        "Minimal impact: no precautions are needed.",
        "Minor breathing discomfort to sensitive people, who should consider less heavy exertion outdoors.",
        "Breathing discomfort to people with lung disease, asthma or heart disease, who should reduce heavy exertion outdoors.",
        "Breathing discomfort to most people on prolonged exposure. Everyone: reduce heavy exertion outdoors.",
        "Respiratory illness on prolonged exposure. Sensitive people: stay indoors. Everyone: avoid heavy exertion outdoors.",
        "Affects healthy people and seriously impacts those with existing diseases. Everyone: avoid all physical activity outdoors.",
    ]

    /// Environmental Protection Agency, "AQI Basics" and "Air Quality Guide", shortened.
    private static let americanStatements = [
        "Air pollution poses little or no risk: a good day to be active outside.",
        "A risk for people who are unusually sensitive, who should make activities outdoors shorter and less intense.",
        "Sensitive groups may experience health effects: make activities outdoors shorter and less intense.",
        "Some people may experience health effects. Sensitive groups: move activities indoors. Everyone: take it easier outdoors.",
        "The risk is increased for everyone. Sensitive groups: avoid physical activity outdoors. Everyone: limit it.",
        "Emergency conditions: everyone should avoid all physical activity outdoors, and sensitive groups remain indoors.",
    ]

    /// European Environment Agency, messages to the general population, shortened.
    private static let europeanStatements = [
        "The air quality is good: enjoy your usual outdoor activities.",
        "Enjoy your usual outdoor activities.",
        "Sensitive people: consider reducing intense outdoor activities if you have symptoms.",
        "Consider reducing intense activities outdoors if you have sore eyes, a cough or a sore throat.",
        "Consider reducing outdoor activities; sensitive people should reduce physical activities outdoors.",
        "Reduce physical activities outdoors; sensitive people should avoid them.",
    ]
}
