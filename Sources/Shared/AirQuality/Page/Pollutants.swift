extension PollutantValues {
    /// The pollutants as people write them.
    static let titles = ["PM2.5", "PM10", "NO₂", "SO₂", "O₃", "CO", "NH₃"]
}

extension PageFrame {
    /// The pollutant with the greatest index, where the air is worse than the best category.
    func cause(_ city: Int) -> Markup {
        guard snapshot.state(of: city).category > 1, let pollutant = snapshot.extras(of: city).subIndices?.greatest
        else { return "" }
        return "<span class=\"cause\">because of \(PollutantValues.titles[pollutant])</span>"
    }

    /// The index and the concentration of each pollutant of which one is known, the greatest index first.
    func pollutants(_ city: Int) -> Markup {
        let extras = snapshot.extras(of: city)
        func index(_ pollutant: Int) -> Double { extras.subIndices?[pollutant] ?? -1 }
        let known = PollutantValues.pollutants.indices.filter {
            index($0) >= 0 || extras.concentrations?[$0] != nil
        }
        guard !known.isEmpty else { return "" }
        var tiles: Markup = ""
        for pollutant in known.sorted(by: { (index($0), $1) > (index($1), $0) }) {
            let concentration: Markup =
                extras.concentrations?[pollutant].map { "<small>\(amount: $0) µg/m³</small>" } ?? ""
            var number: Markup = ""
            if let index = extras.subIndices?[pollutant] {
                let category = settings.scale.category(of: index, held: nil, hysteresis: 0)
                number = "<b class=\"index c\(category)\">\(Int(index))</b> "
            }
            tiles += "<div><dt>\(PollutantValues.titles[pollutant])</dt><dd>\(number)\(concentration)</dd></div>\n"
        }
        return """
            <h2>\(extras.subIndices?.greatest == nil ? "" : "\(settings.scale.title) of ")each pollutant</h2>
            <dl class="statistics pollutants">
            \(tiles)</dl>

            """
    }
}
