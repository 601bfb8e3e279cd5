internal import AirQuality
internal import AirQualityIndex

/// India's stations as one round of a source names them, and what they make of each city.
///
/// A station belongs to the cities of its city's name that are within fifty kilometres: there are two Aurangabads. So
/// one without coordinates belongs to none. A station's index is the one that the source gives, else the greatest of
/// its sub-indices where three pollutants, one of them particulate matter, have one; a city's is the mean of its
/// stations'.
struct CPCBStations {
    private static let maximumKilometers = 50.0
    /// Seconds by which a station may be older than the city's newest one; older ones do not count.
    private static let maximumLag: Int64 = 3 * 3600
    private static let maximumNameBytes = 256

    /// A row of a source: a station, or one of its pollutants.
    struct Row {
        var city: String
        var station: String
        var updatedAt: Int64?
        var latitude: Double?
        var longitude: Double?
        var subIndices: [Pollutant: Double] = [:]
        /// Index that CPCB gives for the station.
        var index: Double?

        /// Pollutants whose sub-index is out of range.
        var unusable: [String] {
            subIndices.filter { !IndexRange.isValid($1) }.map(\.key.rawValue).sorted()
        }
    }

    private struct Station {
        var subIndices: [Pollutant: Double] = [:]
        var index: Double?
        var updatedAt: Int64?
    }

    private let cities: [PolledCity]
    private let numbers: [String: [Int]]
    private var stations: [Int: [String: Station]] = [:]
    /// Stations in cities that are asked for, and their values, that were left out.
    private(set) var omissions: Set<Omission> = []

    init(_ cities: [PolledCity]) {
        self.cities = cities
        numbers = Dictionary(grouping: cities.indices) { Self.key(of: cities[$0]) }
    }

    mutating func add(_ row: Row, at now: Int64) {
        guard let numbers = numbers[Self.key(of: row.city)], row.station.utf8.count <= Self.maximumNameBytes else {
            return
        }
        if let updatedAt = row.updatedAt, updatedAt > now + 3600 {
            omissions.insert(Omission("stations with a time in the future", row.station))
            return
        }
        guard let latitude = row.latitude, let longitude = row.longitude else {
            omissions.insert(Omission("stations without coordinates", row.station))
            return
        }
        for pollutant in row.unusable {
            omissions.insert(Omission("averages that are no sub-index", "\(pollutant) of \(row.station)"))
        }
        for number in numbers {
            let city = cities[number]
            guard let distance = kilometers(city.latitude, city.longitude, latitude, longitude) else {
                omissions.insert(Omission("stations whose coordinates are no place", row.station))
                continue
            }
            guard distance <= Self.maximumKilometers else {
                omissions.insert(Omission("stations more than 50 km from the city of their name", row.station))
                continue
            }
            var station = stations[number]?[row.station] ?? Station()
            if let updatedAt = row.updatedAt { station.updatedAt = max(station.updatedAt ?? 0, min(updatedAt, now)) }
            let usable = row.subIndices.filter { IndexRange.isValid($1) }
            station.subIndices.merge(usable) { $1 }
            station.index = row.index.flatMap { IndexRange.isValid($0) ? $0 : nil } ?? station.index
            stations[number, default: [:]][row.station] = station
        }
    }

    func air(of city: Int, at now: Int64) -> Result<CityAir, AirUnavailable> {
        guard let stations = stations[city]?.values else {
            return .failure(AirUnavailable("it has no station within 50 km in a city of that name"))
        }
        guard let newest = stations.compactMap(\.updatedAt).max() else {
            return .failure(AirUnavailable("none of its stations has a time that can be read"))
        }
        guard now - newest <= staleAfter else {
            return .failure(AirUnavailable("its newest station is \((now - newest) / 3600) hours old"))
        }
        let fresh = stations.filter { $0.updatedAt.map { newest - $0 <= Self.maximumLag } ?? false }
        let usable = fresh.compactMap { station -> (index: Double, subIndices: [Pollutant: Double])? in
            let greatest = IndexScale.india.isEnough(station.subIndices.keys) ? station.subIndices.values.max() : nil
            return (station.index ?? greatest).map { ($0, station.subIndices) }
        }
        guard !usable.isEmpty else {
            return .failure(AirUnavailable("no station has averages of three pollutants, one of them pm2_5 or pm10"))
        }
        func mean(_ values: [Double]) -> Double? {
            values.isEmpty ? nil : (values.reduce(0, +) / Double(values.count)).rounded()
        }
        var subIndices: [Pollutant: Double] = [:]
        for pollutant in Pollutant.allCases {
            subIndices[pollutant] = mean(usable.compactMap { $0.subIndices[pollutant] })
        }
        return .success(
            CityAir(index: mean(usable.map(\.index)) ?? 0, observedAt: newest, subIndices: subIndices, basis: "given"))
    }

    static let pollutants: [String: Pollutant] = [
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
