internal import AirQualityIndex
internal import Bytes

/// India's Central Pollution Control Board through data.gov.in: "Real time Air Quality Index from various locations".
///
/// Documented at https://data.gov.in/resource/real-time-air-quality-index-various-locations. Each row is one pollutant
/// of a station; pages of more than 300 rows time out. The values are read as sub-indices, because the data set is
/// titled an AQI and its carbon monoxide, such as 55 to 76, is impossible in mg/m³. There are no concentrations.
///
/// A key may get fewer rows than requested, so each page starts where the previous one ended. Rows may be reordered
/// between two pages, so distinct rows are counted; if some are missing, another pass requests all of them again with
/// different page boundaries. If two passes find the same rows, none is missing and the data set has duplicates.
/// Cities are reported only once all rows are there, because a mean over some of a city's stations would look valid.
struct CPCB: AirSource {
    private static let resource = "3b01bcb8-0b14-4abf-b6f2-c1bfd384ba69"
    private static let pageSize = 300
    private static let maximumRows = 30_000
    private static let maximumPasses = 3

    private let cities: [PolledCity]
    private let key: String

    // State of the round.
    private var due: [Int] = []
    private var stations: CPCBStations
    /// Hashes of the distinct rows of each pass; the last pass is under way.
    private var passes: [Set<Int>] = []
    /// Number of rows received in this pass.
    private var offset = 0

    init(cities: [PolledCity], key: String) {
        self.cities = cities
        self.key = key
        stations = CPCBStations(cities)
    }

    mutating func queries(for due: [Int], at now: Int64) -> [SourceQuery] {
        self = CPCB(cities: cities, key: key)
        self.due = due
        return due.isEmpty ? [] : [beginPass()]
    }

    private mutating func beginPass() -> SourceQuery {
        passes.append([])
        offset = 0
        return page
    }

    /// Number of rows to request. Later passes start with a short page, which moves the boundaries at which rows may
    /// have been lost.
    private var limit: Int { offset == 0 && passes.count > 1 ? passes.count - 1 : Self.pageSize }

    private var page: SourceQuery {
        SourceQuery(
            path: "/resource/\(Self.resource)?api-key=\(percentEncoded(key.utf8))&format=json"
                + "&offset=\(offset)&limit=\(limit)",
            subject: "rows from \(offset + 1) on")
    }

    mutating func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceResponse {
        let document = try document(in: body)
        let total = min(Int(exactly: try document["total"].number()) ?? 0, Self.maximumRows)
        guard total > 0 else { throw .unreadable("total is \(document["total"].scalar.prefix(40))") }
        let received = try document["records"].elements().prefix(limit)
        // Limits a pass to about a hundred pages.
        guard offset + received.count >= total || received.count >= min(limit, max(1, total / 100)) else {
            throw .refused("the key gives \(received.count) of \(total) rows at once")
        }
        for row in received { add(row, at: now) }
        offset += received.count
        if offset < total { return SourceResponse(queries: [page]) }
        let found = passes.reduce(into: Set()) { $0.formUnion($1) }.count
        if found >= total || passes.dropLast().last == passes.last { return stations.response(for: due, at: now) }
        if passes.count < Self.maximumPasses { return SourceResponse(queries: [beginPass()]) }
        let reason = "the key gives \(found) of \(total) rows"
        return SourceResponse(findings: due.map { CityFinding(city: $0, reason: reason) })
    }

    private mutating func add(_ row: JSONNode, at now: Int64) {
        let city = row["city"].scalar
        let station = row["station"].scalar
        let pollutant = row["pollutant_id"].scalar
        passes[passes.count - 1].insert([row["state"].scalar, city, station, pollutant].hashValue)
        // `pollutant_avg` is the field's older name.
        let average = row["avg_value"].exists ? row["avg_value"] : row["pollutant_avg"]
        stations.add(
            CPCBStations.Row(
                city: city, station: station, updatedAt: epochSeconds(indian: row["last_update"].scalar),
                latitude: row["latitude"].looseNumber, longitude: row["longitude"].looseNumber,
                averages: [pollutant: average.scalar]),
            at: now)
    }
}

extension DataSource {
    public static let cpcb = DataSource(
        name: "cpcb", baseURL: "https://airquality.cpcb.gov.in", baseURLWithKey: "https://api.data.gov.in",
        givenScale: .india,
        // No limit is published; the data set has about a dozen pages.
        rate: CallRate(calls: 20, per: .seconds(60)), kind: .stations, license: "GODL-India"
    ) { setup in
        if let key = setup.key { CPCB(cities: setup.cities, key: key) } else { CPCBFeed(cities: setup.cities) }
    }
}
