internal import AirQuality
internal import AirQualityIndex
internal import Bytes

/// India's Central Pollution Control Board by data.gov.in: "Real time Air Quality Index from various locations".
///
/// Documented at https://data.gov.in/resource/real-time-air-quality-index-various-locations. A row is a pollutant of a
/// station, in pages of 300: larger ones time out. Its values are read as sub-indices, because the set is titled an
/// index and has values of carbon monoxide, such as 55 to 76, that no air has in mg/m³. There are no concentrations.
///
/// A key may get fewer rows at once than it asks for, the order of rows may change between two pages, and a page may
/// not come. So a page begins where the one before has ended, the different rows are counted, and all rows are asked
/// for again, on pages that begin elsewhere, when some are missing. None are when two passes without a gap gave the
/// same: the set has a row twice. If some still are, only cities are given whose rows cannot be among them: those that
/// are beside no gap, while every city's rows are together and none is on two pages.
struct CPCB: AirSource {
    private static let resource = "3b01bcb8-0b14-4abf-b6f2-c1bfd384ba69"
    private static let pageSize = 300
    private static let maximumRows = 30_000
    private static let maximumPages = 100
    private static let maximumPasses = 3

    private let cities: [PolledCity]
    private let key: String

    // The round.
    private var due: [Int] = []
    private var stations: CPCBStations
    private var total = 0
    private var passes = 0
    /// Hashes of the different rows.
    private var rows: Set<Int> = []
    /// Rows of the round that cannot be read.
    private var unreadable: Set<Omission> = []
    /// Number of rows of the pass so far.
    private var offset = 0
    private var pages = 0
    /// The cities in the order of their rows; `nil` is a gap.
    private var order: [String?] = []
    private var rowsOfPass: Set<Int> = []
    /// Rows of the pass before, if it had no gap.
    private var rowsOfLastPass: Set<Int> = []
    /// A row was on two pages, so others may be on none.
    private var isMoving = false

    init(cities: [PolledCity], key: String) {
        self.cities = cities
        self.key = key
        stations = CPCBStations(cities)
    }

    mutating func queries(for due: [Int], at now: Int64) -> [SourceQuery] {
        self.due = due
        stations = CPCBStations(cities)
        total = 0
        passes = 0
        rows = []
        rowsOfLastPass = []
        unreadable = []
        return due.isEmpty ? [] : beginPass()
    }

    private mutating func beginPass() -> [SourceQuery] {
        passes += 1
        offset = 0
        pages = 0
        order = []
        rowsOfPass = []
        isMoving = false
        return [page]
    }

    /// Rows to ask for in the next page. A row that is lost at a place of a page, or between two pages, is elsewhere in
    /// the next pass.
    private var limit: Int {
        let repeated = passes - 1
        return pages == 0 && repeated > 0 ? repeated : Self.pageSize - 7 * repeated
    }

    private var page: SourceQuery {
        SourceQuery(
            path: "/resource/\(Self.resource)?api-key=\(percentEncoded(key.utf8))&format=json"
                + "&offset=\(offset)&limit=\(limit)",
            subject: "rows from \(offset + 1) on", kind: .page(offset: offset))
    }

    mutating func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceResponse {
        guard query.kind == .page(offset: offset) else { return SourceResponse() }
        let page = try decoded(Page.self, from: body)
        total = min(Int(exactly: page.total.value ?? 0) ?? 0, Self.maximumRows)
        let received = page.records.all.prefix(limit)
        pages += 1
        if pages == 1, passes == 1, !received.isEmpty, received.count * Self.maximumPages < total {
            throw .refused("the key gives \(received.count) of \(total) rows at once")
        }
        var rowsOfPage: Set<Int> = []
        for (place, row) in received.enumerated() {
            guard let row = row.value, row.names.allSatisfy({ $0?.utf8.count ?? 0 <= 256 }) else {
                rows.insert((offset + place).hashValue)
                unreadable.insert(Omission("rows that cannot be read", "row \(offset + place + 1)"))
                continue
            }
            rowsOfPage.insert(row.names.hashValue)
            let city = "\(row.state?.value ?? "")|\(row.city)"
            if order.last != city { order.append(city) }
            stations.add(row.entry, at: now)
        }
        isMoving = isMoving || !rowsOfPage.isDisjoint(with: rowsOfPass)
        rowsOfPass.formUnion(rowsOfPage)
        rows.formUnion(rowsOfPage)
        offset += received.count
        // None where there should be more: the rest does not come.
        if received.isEmpty, offset < total { return skip(Self.maximumRows, at: now) }
        return proceed(at: now)
    }

    mutating func giveUp(_ query: SourceQuery, at now: Int64) -> SourceResponse {
        query.kind == .page(offset: offset) ? skip(limit, at: now) : SourceResponse()
    }

    private mutating func skip(_ rows: Int, at now: Int64) -> SourceResponse {
        order.append(nil)
        offset += rows
        return proceed(at: now)
    }

    private mutating func proceed(at now: Int64) -> SourceResponse {
        if offset < total, pages < Self.maximumPages { return SourceResponse(queries: [page]) }
        let isWhole = !order.contains(nil) && offset >= total
        let hasAll = rows.count >= total || (isWhole && rowsOfPass == rowsOfLastPass)
        rowsOfLastPass = isWhole ? rowsOfPass : []
        if !hasAll, passes < Self.maximumPasses { return SourceResponse(queries: beginPass()) }
        let complete = hasAll ? nil : self.complete
        return SourceResponse(
            findings: due.map { number in
                if let complete, !complete.contains(where: { CPCBStations.isName($0, of: cities[number]) }) {
                    let text = "the key gives \(rows.count) of \(total) rows, and its stations may be among the others"
                    return CityFinding(city: number, .failure(AirUnavailable(text)))
                }
                return CityFinding(city: number, stations.air(of: number, at: now))
            }, omissions: stations.omissions.union(unreadable))
    }

    /// The names of the cities whose rows are all there although some are missing.
    private var complete: Set<String> {
        let names = order.compactMap(\.self)
        guard !isMoving, Set(names).count == names.count else { return [] }
        var complete: Set<String> = []
        for (place, name) in order.enumerated() {
            let isAfterGap = place > 0 && order[place - 1] == nil
            let isBeforeGap = place + 1 < order.count && order[place + 1] == nil
            if let name, !isAfterGap, !isBeforeGap { complete.insert(String(name.drop { $0 != "|" }.dropFirst())) }
        }
        return complete
    }

    private struct Page: Decodable {
        struct Row: Decodable {
            var state: Lenient<String>?
            var city: String
            var station: String
            var lastUpdate: String
            var pollutant: String
            var newAverage: LooseNumber?
            /// As the set had it before.
            var oldAverage: LooseNumber?
            var latitude: LooseNumber?
            var longitude: LooseNumber?

            enum CodingKeys: String, CodingKey {
                case state, city, station, latitude, longitude
                case lastUpdate = "last_update"
                case pollutant = "pollutant_id"
                case newAverage = "avg_value"
                case oldAverage = "pollutant_avg"
            }

            /// Names that tell the row from the others; the state may be missing.
            var names: [String?] { [state?.value, city, station, pollutant] }

            var entry: CPCBStations.Row {
                var subIndices: [Pollutant: Double] = [:]
                if let pollutant = CPCBStations.pollutants[pollutant] {
                    subIndices[pollutant] = (newAverage ?? oldAverage)?.value
                }
                return CPCBStations.Row(
                    city: city, station: station, updatedAt: epochSeconds(indian: lastUpdate),
                    latitude: latitude?.value, longitude: longitude?.value, subIndices: subIndices)
            }
        }

        var total: LooseNumber
        var records: List<Row>
    }
}
