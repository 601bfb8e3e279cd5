extension Scale {
    /// What the air of a category does to people, as the scale's authority says it in one sentence.
    func healthStatement(of category: UInt8) -> String {
        let statements =
            switch name {
            case "us": Self.americanStatements
            case "eu": Self.europeanStatements
            default: Self.indianStatements
            }
        return statements[Int(category) - 1]
    }

    /// Central Pollution Control Board, "About AQI".
    private static let indianStatements = [
        "Minimal impact.",
        "Minor breathing discomfort to sensitive people.",
        "Breathing discomfort to people with lung disease, asthma or heart disease.",
        "Breathing discomfort to most people on prolonged exposure.",
        "Respiratory illness on prolonged exposure.",
        "Affects healthy people and seriously impacts those with existing diseases.",
    ]

    /// Environmental Protection Agency, "AQI Basics".
    private static let americanStatements = [
        "Air pollution poses little or no risk.",
        "There may be a risk for people who are unusually sensitive to air pollution.",
        "Members of sensitive groups may experience health effects.",
        "Some members of the general public may experience health effects; sensitive groups more serious ones.",
        "The risk of health effects is increased for everyone.",
        "Health warning of emergency conditions: everyone is more likely to be affected.",
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
