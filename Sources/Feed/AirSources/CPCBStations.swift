internal import AirQuality
internal import AirQualityIndex

/// India's stations as one round of a source names them, and what they make of each city.
///
/// A station belongs to the cities of its city's name within 50 km (there are two Aurangabads); without coordinates, to
/// none. Its index is the one that the source gives, else the greatest of its sub-indices where three pollutants, one
/// of them particulate matter, have one; a city's is the mean of its stations'.
struct CPCBStations {
    private static let maximumKilometers = 50.0
    /// Greatest lag in seconds that counts: a station's behind the city's newest, an average's behind its station.
    private static let maximumLag: Int64 = 3 * 3600
    private static let maximumNameBytes = 256

    /// A row of a source: a station, or one of its pollutants.
    struct Row {
        var city: String
        var station: String
        var updatedAt: Int64?
        var latitude: Double?
        var longitude: Double?
        /// Averages as the source writes them, by CPCB's name of the pollutant.
        var averages: [String: String] = [:]
        /// Index that CPCB gives for the station, as the source writes it.
        var index = ""
    }

    private struct Station {
        var averages: [Pollutant: (value: Double, updatedAt: Int64?)] = [:]
        var index: Double?
        var updatedAt: Int64?

        /// The averages that are not much older than the newest one.
        var subIndices: [Pollutant: Double] {
            averages.filter { (updatedAt ?? 0) - ($0.value.updatedAt ?? updatedAt ?? 0) <= maximumLag }
                .mapValues(\.value)
        }
    }

    private let cities: [PolledCity]
    private let numbers: [String: [Int]]
    private var stations: [Int: [String: Station]] = [:]
    private var omissions: Set<Omission> = []

    init(_ cities: [PolledCity]) {
        self.cities = cities
        numbers = Dictionary(grouping: cities.indices) { Self.key(of: cities[$0]) }
    }

    mutating func add(_ row: Row, at now: Int64) {
        guard let numbers = numbers[Self.key(of: row.city)] else { return }
        func omit(_ reason: String) { self.omit(reason, row.station) }
        if row.station.allSatisfy(\.isWhitespace) { return self.omit("stations without a name", "in \(row.city)") }
        if row.station.utf8.count > Self.maximumNameBytes {
            return self.omit("stations with a name above 256 bytes", "\(row.station.prefix(60))…")
        }
        if let updatedAt = row.updatedAt, updatedAt > now + 3600 { return omit("stations with a time in the future") }
        guard let latitude = row.latitude, let longitude = row.longitude else {
            return omit("stations without coordinates")
        }
        let index = IndexValue(row.index)
        // Its sub-indices are no better then.
        if index == .unusable { return omit("stations whose index is out of range") }
        var averages: [Pollutant: (value: Double, updatedAt: Int64?)] = [:]
        for (name, text) in row.averages {
            switch (Self.pollutants[name], IndexValue(text)) {
            case (nil, _): self.omit("averages of unknown pollutants", "\(name.prefix(60)) of \(row.station)")
            case (let pollutant?, .value(let value)): averages[pollutant] = (value, row.updatedAt)
            case (let pollutant?, .unusable):
                self.omit("averages that are no sub-index", "\(pollutant.rawValue) of \(row.station)")
            case (_, .missing): continue
            }
        }
        for number in numbers {
            guard let distance = cities[number].kilometers(to: latitude, longitude) else {
                return omit("stations whose coordinates are no place")
            }
            guard distance <= Self.maximumKilometers else {
                omit("stations more than 50 km from the city of their name")
                continue
            }
            var station = stations[number]?[row.station] ?? Station()
            let isOlder = row.updatedAt ?? .min < station.updatedAt ?? .min
            let isKnown = station.index != nil || averages.keys.contains { station.averages[$0] != nil }
            if isKnown, row.updatedAt != station.updatedAt { omit("older values of stations that come twice") }
            station.averages.merge(averages) { known, new in isOlder ? known : new }
            if case .value(let value) = index, !isOlder || station.index == nil { station.index = value }
            if !isOlder { station.updatedAt = row.updatedAt }
            stations[number, default: [:]][row.station] = station
        }
    }

    mutating func omit(_ reason: String, _ name: String) { omissions.insert(Omission(reason, name)) }

    mutating func response(for cities: [Int], at now: Int64) -> SourceResponse {
        var findings: [CityFinding] = []
        for city in cities { findings.append(CityFinding(city: city, try air(of: city, at: now))) }
        return SourceResponse(findings: findings, omissions: omissions)
    }

    /// The city's air. Stations that do not count are added to the omissions; where none counts, the reason says so.
    mutating func air(of city: Int, at now: Int64) throws(AirUnavailable) -> CityAir {
        guard let stations = stations[city] else {
            throw AirUnavailable("it has no station within 50 km in a city of that name")
        }
        guard let newest = stations.values.compactMap(\.updatedAt).max() else {
            throw AirUnavailable("none of its stations has a time that can be read")
        }
        guard now - newest <= staleAfter else {
            throw AirUnavailable("its newest station is \((now - newest) / 3600) hours old")
        }
        var indices: [Double] = []
        var subIndices: [Pollutant: [Double]] = [:]
        var others: Set<Omission> = []
        for (name, station) in stations {
            let current = station.subIndices
            if current.count < station.averages.count {
                others.insert(Omission("averages that lag more than three hours behind their station", name))
            }
            let greatest = IndexScale.india.isEnough(current.keys) ? current.values.max() : nil
            switch (station.updatedAt, station.index ?? greatest) {
            case (nil, _): others.insert(Omission("stations without a time that can be read", name))
            case (let updatedAt?, _) where newest - updatedAt > Self.maximumLag:
                others.insert(Omission("stations that lag more than three hours behind their city", name))
            case (_, nil): others.insert(Omission("stations without an index and averages that make one", name))
            case (_, let index?):
                indices.append(index)
                subIndices.merge(current.mapValues { [$0] }, uniquingKeysWith: +)
            }
        }
        guard !indices.isEmpty else {
            throw AirUnavailable("no station has averages of three pollutants, one of them pm2_5 or pm10")
        }
        omissions.formUnion(others)
        func mean(_ values: [Double]) -> Double { (values.reduce(0, +) / Double(values.count)).rounded() }
        return CityAir(
            index: mean(indices), observedAt: min(newest, now), subIndices: subIndices.mapValues(mean), basis: "given")
    }

    private static let pollutants: [String: Pollutant] = [
        "PM2.5": .pm25, "PM10": .pm10, "NO2": .no2, "SO2": .so2, "OZONE": .o3, "O3": .o3, "CO": .co, "NH3": .nh3,
    ]

    // MARK: Names

    private static func key(of city: PolledCity) -> String { key(of: city.id ?? city.name) }

    /// A city's name in lower case without blanks, hyphens and the state behind it, in one of its spellings.
    private static func key(of name: String) -> String {
        let letters = name.prefix { $0 != "(" }.lowercased().filter { !" -_.".contains($0) }
        return spellings[letters] ?? letters
    }

    /// Names of CPCB's, or older ones, with those that GeoNames has.
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
