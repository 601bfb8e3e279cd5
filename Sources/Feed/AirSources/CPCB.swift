internal import AirQualityIndex
internal import Bytes

/// India's Central Pollution Control Board by data.gov.in: "Real time Air Quality Index from various locations".
///
/// Documented at https://data.gov.in/resource/real-time-air-quality-index-various-locations. A row is a pollutant of a
/// station, in pages of 300: larger ones time out. Its values are read as sub-indices, because the set is titled an index
/// and has values of carbon monoxide, such as 55 to 76, that no air has in mg/m³. So a station's index is the greatest of
/// its averages where three pollutants, one of them particulate matter, have one; a city's is the mean of its stations'.
/// There are no concentrations.
struct CPCB: AirSource {
    private static let resource = "3b01bcb8-0b14-4abf-b6f2-c1bfd384ba69"
    private static let pageSize = 300
    private static let maximumRows = 30_000
    /// A station that is so much older than the city's newest one does not count.
    private static let maximumLag: Int64 = 3 * 3600

    private struct Station {
        var subIndices: [Pollutant: Double] = [:]
        var updatedAt: Int64 = 0
    }

    private let cities: [City]
    private let key: String
    /// The names of the cities in the set, lower case.
    private let names: [String: Int]

    // Of the round.
    private var due: [Int] = []
    private var pending: Set<Int> = []
    private var stations: [Int: [String: Station]] = [:]

    init(cities: [City], key: String) {
        self.cities = cities
        self.key = key
        let names = cities.enumerated().map { (($0.element.id ?? $0.element.name).lowercased(), $0.offset) }
        self.names = Dictionary(names) { first, _ in first }
    }

    mutating func queries(for due: [Int], at now: Int64) -> [SourceQuery] {
        self.due = due
        stations = [:]
        pending = due.isEmpty ? [] : [0]
        return pending.map(page)
    }

    private func page(at offset: Int) -> SourceQuery {
        SourceQuery(
            path: "/resource/\(Self.resource)?api-key=\(percentEncoded(key.utf8))&format=json"
                + "&offset=\(offset)&limit=\(Self.pageSize)",
            subject: "rows from \(offset + 1) on", kind: .page(offset: offset))
    }

    mutating func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceAnswer {
        guard case .page(let offset) = query.kind, pending.contains(offset) else { return SourceAnswer() }
        let page = try decoded(Page.self, from: body)
        for row in page.records.compactMap(\.value) { add(row, at: now) }
        pending.remove(offset)
        var answer = SourceAnswer()
        if offset == 0 {
            let total = min(Int(exactly: page.total.value ?? 0) ?? 0, Self.maximumRows)
            let offsets = Array(stride(from: Self.pageSize, to: total, by: Self.pageSize))
            pending.formUnion(offsets)
            answer.queries = offsets.map(self.page)
        }
        if pending.isEmpty {
            answer.findings = due.map { CityFinding(city: $0, air(of: stations[$0] ?? [:], at: now)) }
        }
        return answer
    }

    private mutating func add(_ row: Page.Row, at now: Int64) {
        guard let city = names[row.city.lowercased()], let updatedAt = epochSeconds(indian: row.lastUpdate),
            updatedAt <= now + 3600
        else { return }
        var station = stations[city]?[row.station] ?? Station()
        station.updatedAt = max(station.updatedAt, min(updatedAt, now))
        if let value = row.average, CityAir.indices.contains(value), let pollutant = Self.pollutants[row.pollutant] {
            station.subIndices[pollutant] = value
        }
        stations[city, default: [:]][row.station] = station
    }

    private func air(of stations: [String: Station], at now: Int64) -> Result<CityAir, NoAir> {
        guard let newest = stations.values.map(\.updatedAt).max() else {
            return .failure(NoAir("the set has no station in a city of that name"))
        }
        guard now - newest <= staleAfter else {
            return .failure(NoAir("its newest station is \((now - newest) / 3600) hours old"))
        }
        let indices = stations.values.compactMap { station -> Double? in
            let isFresh = newest - station.updatedAt <= Self.maximumLag
            return isFresh && IndexScale.india.isEnough(station.subIndices.keys) ? station.subIndices.values.max() : nil
        }
        guard !indices.isEmpty else {
            return .failure(NoAir("no station has averages of three pollutants, one of them pm2_5 or pm10"))
        }
        let mean = (indices.reduce(0, +) / Double(indices.count)).rounded()
        return .success(CityAir(index: mean, observedAt: newest, basis: "given"))
    }

    private static let pollutants: [String: Pollutant] = [
        "PM2.5": .pm25, "PM10": .pm10, "NO2": .no2, "SO2": .so2, "OZONE": .o3, "O3": .o3, "CO": .co, "NH3": .nh3,
    ]

    private struct Page: Decodable {
        struct Row: Decodable {
            var city: String
            var station: String
            var lastUpdate: String
            var pollutant: String
            var average: Double?

            enum CodingKeys: String, CodingKey {
                case city, station
                case lastUpdate = "last_update"
                case pollutant = "pollutant_id"
                case newAverage = "avg_value"
                /// As the set had it before.
                case oldAverage = "pollutant_avg"
            }

            init(from decoder: any Decoder) throws {
                let members = try decoder.container(keyedBy: CodingKeys.self)
                city = try members.decode(String.self, forKey: .city)
                station = try members.decode(String.self, forKey: .station)
                lastUpdate = try members.decode(String.self, forKey: .lastUpdate)
                pollutant = try members.decode(String.self, forKey: .pollutant)
                let key: CodingKeys = members.contains(.newAverage) ? .newAverage : .oldAverage
                average = try members.decodeIfPresent(LooseNumber.self, forKey: key)?.value
            }
        }

        var total: LooseNumber
        var records: [Lenient<Row>]
    }
}
