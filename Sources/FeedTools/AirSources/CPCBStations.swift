internal import AirQuality
internal import AirQualityIndex

/// India's stations as collected in one round, and the air of each city that follows from them.
///
/// A station belongs to every city that has its city's name and is within 50 km (there are two Aurangabads); a station
/// without coordinates belongs to none. Its AQI is the one the source gives, otherwise the highest of its sub-indices
/// if at least three pollutants, one of them particulate matter, have one. A city's AQI is the mean of its stations'.
/// If a value is duplicated, the one in the newer row counts.
struct CPCBStations {
    private static let maximumNameBytes = 256
    /// Maximum lag behind the city's newest station, in seconds.
    private static let maximumLag: Int64 = 3 * 3600

    /// One row of a source: a station, or one pollutant of a station.
    struct Row {
        var city: String
        var station: String
        var updatedAt: Int64?
        var latitude: Double?
        var longitude: Double?
        /// Averages as written by the source, by CPCB's name of the pollutant.
        var averages: [String: String] = [:]
        /// The station's AQI as written by the source.
        var aqi = ""
    }

    /// The usable part of a row.
    private struct Report {
        let station: String
        let updatedAt: Int64
        var averages: [Pollutant: Double] = [:]
        var aqi: Double?
    }

    private let cities: [PolledCity]
    private let indices: [String: [Int]]
    private var reports: [Int: [Report]] = [:]
    private var omissions: Set<Omission> = []

    init(_ cities: [PolledCity]) {
        self.cities = cities
        indices = Dictionary(grouping: cities.indices) { Self.key(of: cities[$0].id ?? cities[$0].name) }
    }

    mutating func add(_ row: Row, at now: Int64) {
        // The feed gives a city's name once for all of its stations, so a long one would be read many times.
        guard row.city.utf8.count <= Self.maximumNameBytes else { return }
        guard let indices = indices[Self.key(of: row.city)] else { return }
        func omit(_ reason: String, _ name: String? = nil) {
            omissions.insert(Omission(reason, name ?? row.station))
        }
        guard row.station.utf8.count <= Self.maximumNameBytes, !row.station.allSatisfy(\.isWhitespace) else {
            return omit("stations without a name of at most 256 bytes", "in \(row.city)")
        }
        guard let updatedAt = row.updatedAt, updatedAt <= now + 3600 else {
            return omit("stations without a time that can be read, or in the future")
        }
        var report = Report(station: row.station, updatedAt: updatedAt)
        switch AQIValue(row.aqi) {
        case .value(let value): report.aqi = value
        case .missing: break
        // The sub-indices of such a station are not credible either.
        case .unusable: return omit("stations whose index is out of range")
        }
        for (name, text) in row.averages {
            switch (Self.pollutants[name], AQIValue(text)) {
            case (nil, _): omit("averages of unknown pollutants", "\(name.prefix(60)) of \(row.station)")
            case (let pollutant?, .value(let value)): report.averages[pollutant] = value
            case (let pollutant?, .unusable):
                omit("averages that are not sub-indices", "\(pollutant.rawValue) of \(row.station)")
            case (_, .missing): continue
            }
        }
        for index in indices {
            let distance = cities[index].kilometers(to: row.latitude, row.longitude)
            if let distance, distance <= PolledCity.maximumKilometers {
                reports[index, default: []].append(report)
            } else {
                omit("stations without coordinates within 50 km of the city of their name")
            }
        }
    }

    mutating func response(for cities: [Int], at now: Int64) -> SourceResponse {
        var findings: [CityFinding] = []
        for city in cities { findings.append(CityFinding(city: city, try air(of: city, at: now))) }
        return SourceResponse(findings: findings, omissions: omissions)
    }

    /// Returns the city's air and adds the stations that were left out to the omissions, unless all of them were.
    mutating func air(of city: Int, at now: Int64) throws(AirUnavailable) -> CityAir {
        guard let reports = reports[city], let newest = reports.map(\.updatedAt).max() else {
            throw AirUnavailable("it has no station with coordinates and a time within 50 km in a city of that name")
        }
        guard now - newest <= staleAfter else {
            throw AirUnavailable("its newest station is \((now - newest) / 3600) hours old")
        }
        var indices: [Double] = []
        var subIndices: [Pollutant: [Double]] = [:]
        var others: Set<Omission> = []
        for (name, reports) in Dictionary(grouping: reports, by: \.station) {
            let current = reports.filter { newest - $0.updatedAt <= Self.maximumLag }
                .sorted { $0.updatedAt < $1.updatedAt }
            guard !current.isEmpty else {
                others.insert(Omission("stations that lag more than three hours behind their city", name))
                continue
            }
            let averages = current.reduce(into: [:]) { $0.merge($1.averages) { _, newer in newer } }
            if averages.count < Set(reports.flatMap(\.averages.keys)).count {
                others.insert(Omission("averages that lag more than three hours behind their city", name))
            }
            let greatest = IndexScale.india.isEnough(averages.keys) ? averages.values.max() : nil
            guard let aqi = current.compactMap(\.aqi).last ?? greatest else {
                others.insert(Omission("stations without an index and averages that make one", name))
                continue
            }
            indices.append(aqi)
            subIndices.merge(averages.mapValues { [$0] }, uniquingKeysWith: +)
        }
        guard !indices.isEmpty else {
            throw AirUnavailable("no station has averages of three pollutants, one of them pm2_5 or pm10")
        }
        omissions.formUnion(others)
        func mean(_ values: [Double]) -> Double { (values.reduce(0, +) / Double(values.count)).rounded() }
        return CityAir(
            aqi: mean(indices), observedAt: min(newest, now), subIndices: subIndices.mapValues(mean), basis: "given")
    }

    private static let pollutants: [String: Pollutant] = [
        "PM2.5": .pm25, "PM10": .pm10, "NO2": .no2, "SO2": .so2, "OZONE": .o3, "O3": .o3, "CO": .co, "NH3": .nh3,
    ]

    // MARK: Names

    /// A city's name in one canonical spelling: lower case, without blanks, hyphens and the state in parentheses.
    private static func key(of name: String) -> String {
        let letters = name.prefix { $0 != "(" }.lowercased().filter { !" -_.".contains($0) }
        return spellings[letters] ?? letters
    }

    /// CPCB's and older names, and the names GeoNames uses.
    private static let spellings: [String: String] = [
        "ahmednagar": "ahilyanagar", "allahabad": "prayagraj", "bangalore": "bengaluru", "baroda": "vadodara",
        "belgaum": "belagavi", "bellary": "ballari", "bardhaman": "barddhaman", "berhampur": "brahmapur",
        "bijapur": "vijayapura", "calicut": "kozhikode", "chandrapur": "chanda", "chhapra": "chapra", "cochin": "kochi",
        "davanagere": "davangere", "gulbarga": "kalaburagi", "gurgaon": "gurugram", "hubli": "hubballi",
        "kanchipuram": "kancheepuram", "katni": "murwara", "mangalore": "mangaluru", "mehsana": "mahesana",
        "mirabhayandar": "bhayandar", "morbi": "morvi", "mysore": "mysuru", "newdelhi": "delhi",
        "pondicherry": "puducherry",
        "purnea": "purnia", "rajahmundry": "rajamahendravaram", "sagar": "saugor", "shimoga": "shivamogga",
        "solapur": "sholapur", "tirupur": "tiruppur", "trichy": "tiruchirappalli", "trivandrum": "thiruvananthapuram",
        "tumakuru": "tumkur", "tuticorin": "thoothukudi", "udhagamandalam": "ooty", "visakhapatanam": "visakhapatnam",
    ]
}
