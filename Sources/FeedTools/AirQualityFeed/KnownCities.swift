import AirSources

/// Each city's state as last reported by the source. Times are epoch milliseconds.
struct KnownCities {
    private static let maximumLines = 10

    private struct State {
        /// Time of the newest air, in seconds since the Unix epoch; 0 if there is none.
        var observedAt: Int64 = 0
        /// Why the source has no air; `nil` if it has.
        var reason: String?
        /// When the reason was logged; `nil` if it was not yet.
        var loggedAt: Int64?
    }

    private let cities: [PolledCity]
    private var known: [State]
    private var omissions = OmissionLog()

    init(_ cities: [PolledCity]) {
        self.cities = cities
        known = Array(repeating: State(), count: cities.count)
    }

    var count: Int { cities.count }

    var countWithAir: Int { known.count { $0.observedAt > 0 && $0.reason == nil } }

    /// In seconds since the Unix epoch.
    var newestObservation: Int64? { known.map(\.observedAt).filter { $0 > 0 }.max() }

    /// Returns the cities whose newest air is not from the current hour, oldest first. Discards times in the future.
    mutating func due(at now: Int64) -> [Int] {
        for city in cities.indices where known[city].observedAt > now / 1000 { known[city].observedAt = 0 }
        return cities.indices.filter { known[$0].observedAt / 3600 < now / 3_600_000 }
            .sorted { (known[$0].observedAt, $0) < (known[$1].observedAt, $1) }
    }

    /// Records a response, and returns the current air of its cities, changed or not.
    mutating func take(_ response: SourceResponse) -> [(city: Int, air: CityAir)] {
        omissions.add(response.omissions)
        var news: [(city: Int, air: CityAir)] = []
        for finding in response.findings {
            let city = finding.city
            switch finding.air {
            case .success(let air):
                known[city].reason = nil
                // An older value than the known one comes from a station that lags behind.
                guard air.observedAt >= known[city].observedAt else { continue }
                known[city].observedAt = air.observedAt
                news.append((city, air))
            case .failure(let reason):
                let text = "\(reason)"
                // Only letters count: an age in the text changes every hour.
                if known[city].reason?.filter(\.isLetter) != text.filter(\.isLetter) { known[city].loggedAt = nil }
                known[city].reason = text
            }
        }
        return news
    }

    /// Returns the log lines for the end of a round: cities newly without air, and once a day a summary of omissions.
    mutating func takeLines(at now: Int64) -> [String] {
        var lines: [String] = []
        for (index, city) in cities.enumerated() {
            let loggedAt = known[index].loggedAt
            guard let reason = known[index].reason, !OmissionLog.isRecent(loggedAt, at: now) else { continue }
            if loggedAt == nil {
                lines.append("left out \(city.name): \(reason)")
            } else {
                omissions.add([Omission("cities because \(reason)", city.name)])
            }
            known[index].loggedAt = now
        }
        let others = lines.count - Self.maximumLines
        if others > 0 { lines[Self.maximumLines...] = ["left out \(others) more cities"] }
        if let line = omissions.takeLine(at: now) { lines.append(line) }
        return lines
    }
}
