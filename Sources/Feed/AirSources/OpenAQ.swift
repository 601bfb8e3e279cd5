internal import AirQuality
internal import AirQualityIndex
internal import Bytes

/// OpenAQ's API, version 3: hours of official and other stations.
///
/// Documented at https://docs.openaq.org. A city has the sensors of the nearest stations within 25 km; its hour is the
/// mean of theirs. Without particulate matter there is no index. The stations are looked for once a day. A sensor that
/// has no hours for a day is left alone until then: many have stopped years ago.
struct OpenAQ: AirSource {
    private static let radius = 25_000
    private static let stationsLast: Int64 = 24 * 3600
    /// Locations come sorted by their numbers, so the nearest ones may be the last. More are not allowed.
    private static let maximumLocations = 1000

    /// The sensors of a city.
    struct Search {
        var foundAt: Int64
        var sensors: [OpenAQSensor]
        /// Sensors that have not been heard of in this round.
        var pending: Set<Int> = []
        /// The number of rounds in a row in which a sensor was given up.
        var givenUp: [Int: Int] = [:]
    }

    let cities: [PolledCity]
    let scale: IndexScale
    let key: String
    var searches: [Int: Search] = [:]

    // MARK: Queries

    mutating func queries(for due: [Int], at now: Int64) -> [SourceQuery] {
        due.flatMap { number in
            guard let search = searches[number], now - search.foundAt < Self.stationsLast else {
                return [stationsQuery(for: number)]
            }
            return hoursQueries(for: number, at: now)
        }
    }

    private func stationsQuery(for number: Int) -> SourceQuery {
        let city = cities[number]
        let place =
            city.id.map { "/" + percentEncoded($0.utf8) }
            ?? "?coordinates=\(degrees(city.latitude)),\(degrees(city.longitude))&radius=\(Self.radius)"
            + "&limit=\(Self.maximumLocations)"
        return query("/v3/locations" + place, "stations of \(city.name)", number)
    }

    /// Queries for the last 25 hours of each sensor whose newest hour is not there yet.
    private mutating func hoursQueries(for number: Int, at now: Int64) -> [SourceQuery] {
        let hour = Int(now / 3600)
        let from = rfc3339(Int64(hour - 25) * 3600)
        let wanted = (searches[number]?.sensors ?? []).filter { !$0.isStale && $0.hours.values[hour] == nil }
        searches[number]?.pending = Set(wanted.map(\.id))
        return wanted.map { sensor in
            query(
                "/v3/sensors/\(sensor.id)/hours?datetime_from=\(from)&limit=100",
                "\(sensor.pollutant.rawValue) of \(cities[number].name)", number, sensor: sensor.id)
        }
    }

    private func query(_ path: String, _ subject: String, _ city: Int, sensor: Int? = nil) -> SourceQuery {
        SourceQuery(path: path, headers: ["X-API-Key: " + key], subject: subject, cities: [city], sensor: sensor)
    }

    // MARK: Responses

    mutating func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceResponse {
        let document = try document(in: body)
        let results = try document["results"].elements()
        let number = query.cities[0]
        let city = cities[number]
        if let sensor = query.sensor {
            guard let place = searches[number]?.sensors.firstIndex(where: { $0.id == sensor }) else {
                return SourceResponse()
            }
            searches[number]?.givenUp[sensor] = nil
            let omissions = searches[number]?.sensors[place].read(results, in: city, at: now) ?? []
            return SourceResponse(findings: settled(query, at: now), omissions: omissions)
        }
        let stations = OpenAQStations(results, at: now)
        var response = SourceResponse(omissions: stations.omissions)
        // Above the limit it is the text ">1000".
        let found = document["meta"]["found"].scalar
        if found.hasPrefix(">") || looseNumber(found) ?? 0 > Double(results.count) {
            let count = "\(results.count) of \(found) of \(city.name)"
            response.omissions.insert(Omission("lists of stations that are not whole", count))
        }
        if let reason = stations.reasonWithoutParticles(city.id.map { "with the id \($0)" } ?? "within 25 km") {
            response.findings = [CityFinding(city: number, reason: reason)]
        } else {
            searches[number] = Search(foundAt: now, sensors: stations.sensors)
            response.queries = hoursQueries(for: number, at: now)
        }
        return response
    }

    mutating func giveUp(_ query: SourceQuery, at now: Int64) -> SourceResponse {
        let number = query.cities[0]
        if let sensor = query.sensor { searches[number]?.givenUp[sensor, default: 0] += 1 }
        return SourceResponse(findings: settled(query, at: now))
    }

    /// The city's air, when this was the last of its queries.
    private mutating func settled(_ query: SourceQuery, at now: Int64) -> [CityFinding] {
        let number = query.cities[0]
        guard let sensor = query.sensor, searches[number]?.pending.remove(sensor) != nil,
            searches[number]?.pending.isEmpty == true
        else { return [] }
        return [CityFinding(city: number, try air(of: number, at: now))]
    }

    private func air(of number: Int, at now: Int64) throws(AirUnavailable) -> CityAir {
        var concentrations = HourlyConcentrations()
        let givenUp = searches[number]?.givenUp ?? [:]
        let sensors = (searches[number]?.sensors ?? []).filter { !$0.isStale }
        for (pollutant, sensors) in Dictionary(grouping: sensors, by: \.pollutant) {
            // An index without it could be far too low; the next round may have it.
            let isLost = sensors.allSatisfy { givenUp[$0.id] ?? 0 > 0 } && sensors.contains { givenUp[$0.id] == 1 }
            let newest = sensors.compactMap { $0.hours.values.keys.max() }.max() ?? 0
            if isLost, newest < Int(now / 3600) - 2 {
                throw AirUnavailable("no sensor of \(pollutant.rawValue) has responded")
            }
            for hour in Set(sensors.flatMap(\.hours.values.keys)) {
                let values = sensors.compactMap { $0.hours.values[hour] }
                concentrations.record(values.reduce(0, +) / Double(values.count), of: pollutant, at: hour)
            }
        }
        let newest = concentrations.newestHour(notAfter: Int(now / 3600)).map { concentrations.newest(at: $0) } ?? [:]
        guard newest.keys.contains(where: \.isParticulateMatter) else {
            throw AirUnavailable("no station gives pm2_5 or pm10 now")
        }
        return try scale.air(concentrations, at: now)
    }
}
