/// The feed that India's Central Pollution Control Board itself serves, without a key: one document with every station,
/// its pollutants' averages as sub-indices, and its AQI.
///
/// Undocumented: written against a recording of 26 August 2026, and never tried against the service.
struct CPCBFeed: AirSource {
    let cities: [PolledCity]
    var due: [Int] = []

    mutating func queries(for due: [Int], at now: Int64) -> [SourceQuery] {
        self.due = due
        return due.isEmpty ? [] : [SourceQuery(path: "/caaqms/rss_feed", subject: "all stations")]
    }

    mutating func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceResponse {
        var stations = CPCBStations(cities)
        var city = ""
        var isWhole = false
        var row: CPCBStations.Row?
        for tag in XMLTag.all(in: body) {
            switch tag.name {
            case "City": city = tag.attributes["id"] ?? ""
            case "Station":
                row = CPCBStations.Row(
                    city: city, station: tag.attributes["id"] ?? "",
                    updatedAt: tag.attributes["lastupdate"].flatMap(epochSeconds(indian:)),
                    latitude: tag.attributes["latitude"].flatMap(looseNumber),
                    longitude: tag.attributes["longitude"].flatMap(looseNumber))
            case "Pollutant_Index":
                row?.averages[tag.attributes["id"] ?? ""] = tag.attributes["Avg"] ?? ""
            case "Air_Quality_Index": row?.aqi = tag.attributes["Value"] ?? ""
            case "/Station":
                if let row { stations.add(row, at: now) }
                row = nil
            case "/AqIndex": isWhole = true
            default: continue
            }
        }
        guard isWhole else { throw .unreadable("it is not XML with a complete AqIndex") }
        return stations.response(for: due, at: now)
    }
}
