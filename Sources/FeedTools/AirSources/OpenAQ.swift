internal import AirQuality
internal import AirQualityIndex
internal import Bytes

/// OpenAQ's API, version 3: hourly values of official and other stations.
///
/// Documented at https://docs.openaq.org. Each hour of a city is the mean of the sensors of its nearest stations within
/// 25 km. Without particulate matter there is no AQI. Stations are searched for once a day; a sensor without values
/// for a day is not requested again until then, because many stopped years ago.
struct OpenAQ: AirSource {
    private static let radius = 25_000
    private static let stationsLast: Int64 = 24 * 3600
    /// The API's maximum. Locations are sorted by id, so the nearest ones may be the last.
    private static let maximumLocations = 1000

    let cities: [PolledCity]
    let scale: IndexScale
    let key: String
    /// The stations found for each city.
    var stations: [Int: OpenAQStations] = [:]

    // MARK: Queries

    mutating func queries(for due: [Int], at now: Int64) -> [SourceQuery] {
        due.flatMap { index in
            guard let found = stations[index], now - found.foundAt < Self.stationsLast else {
                return [stationsQuery(for: index)]
            }
            return hoursQueries(for: index, at: now)
        }
    }

    private func stationsQuery(for index: Int) -> SourceQuery {
        let city = cities[index]
        let location =
            city.id.map { "/" + percentEncoded($0.utf8) }
            ?? "?coordinates=\(degrees(city.latitude)),\(degrees(city.longitude))&radius=\(Self.radius)"
            + "&limit=\(Self.maximumLocations)"
        return query("/v3/locations" + location, "stations of \(city.name)", index)
    }

    private func query(_ path: String, _ subject: String, _ city: Int, sensor: Int? = nil) -> SourceQuery {
        SourceQuery(path: path, headers: ["X-API-Key: " + key], subject: subject, cities: [city], sensor: sensor)
    }

    /// Returns queries for the last 25 hours of each sensor whose current hour is not known yet.
    private mutating func hoursQueries(for index: Int, at now: Int64) -> [SourceQuery] {
        let hour = Int(now / 3600)
        let from = rfc3339(Int64(hour - 25) * 3600)
        let sensors = stations[index]?.sensors ?? []
        let wanted = sensors.indices.filter { !sensors[$0].isStale && sensors[$0].hours[hour] == nil }
        stations[index]?.pending = Set(wanted)
        return wanted.map { sensor in
            let path = "/v3/sensors/\(sensors[sensor].id)/hours?datetime_from=\(from)&limit=100"
            let subject = "\(sensors[sensor].pollutant.rawValue) of \(cities[index].name)"
            return query(path, subject, index, sensor: sensor)
        }
    }

    // MARK: Responses

    mutating func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceResponse {
        let document = try document(in: body)
        let results = try document["results"].elements()
        let index = query.cities[0]
        let city = cities[index]
        if let sensor = query.sensor {
            let omissions = stations[index]?.sensors[sensor].read(results, in: city, at: now) ?? []
            return SourceResponse(findings: finding(about: index, after: sensor, at: now), omissions: omissions)
        }
        var response = SourceResponse()
        let found = OpenAQStations(results, at: now, &response.omissions)
        if found.sensors.contains(where: \.pollutant.isParticulateMatter) {
            stations[index] = found
            response.queries = hoursQueries(for: index, at: now)
        } else {
            let area = city.id.map { "with the id \($0)" } ?? "within 25 km"
            let reason = "no station \(area) has reported pm25 or pm10 in a known unit within a day"
            response.findings = [CityFinding(city: index, reason: reason)]
        }
        // Beyond the limit the API sends the text ">1000".
        let total = document["meta"]["found"].scalar
        if total.hasPrefix(">") || looseNumber(total) ?? 0 > Double(results.count) {
            let count = "\(results.count) of \(total) of \(city.name)"
            response.omissions.insert(Omission("incomplete station lists", count))
        }
        return response
    }

    mutating func giveUp(_ query: SourceQuery, at now: Int64) -> SourceResponse {
        guard let sensor = query.sensor else { return query.unanswered }
        let index = query.cities[0]
        stations[index]?.sensors[sensor].timesGivenUp += 1
        return SourceResponse(findings: finding(about: index, after: sensor, at: now))
    }

    /// Returns the city's air if this sensor was the last one to respond or be given up.
    private mutating func finding(about index: Int, after sensor: Int, at now: Int64) -> [CityFinding] {
        stations[index]?.pending.remove(sensor)
        guard let found = stations[index], found.pending.isEmpty else { return [] }
        return [CityFinding(city: index, try air(of: found.sensors, at: now))]
    }

    private func air(of sensors: [OpenAQSensor], at now: Int64) throws(AirUnavailable) -> CityAir {
        var means: [Pollutant: Hours] = [:]
        for (pollutant, sensors) in Dictionary(grouping: sensors.filter { !$0.isStale }, by: \.pollutant) {
            // Without this pollutant the AQI could be far too low; the next round may succeed.
            let isLost = sensors.allSatisfy { $0.timesGivenUp > 0 } && sensors.contains { $0.timesGivenUp == 1 }
            let newest = sensors.compactMap { $0.hours.values.keys.max() }.max() ?? 0
            if isLost, newest < Int(now / 3600) - 2 {
                throw AirUnavailable("no sensor of \(pollutant.rawValue) has responded")
            }
            for hour in Set(sensors.flatMap(\.hours.values.keys)) {
                let values = sensors.compactMap { $0.hours[hour] }
                means[pollutant, default: Hours()][hour] = values.reduce(0, +) / Double(values.count)
            }
        }
        let air = try scale.air(means, at: now)
        guard air.concentrations.keys.contains(where: \.isParticulateMatter) else {
            throw AirUnavailable("no station gives pm2_5 or pm10 now")
        }
        return air
    }
}

extension DataSource {
    public static let openaq = DataSource(
        name: "openaq", baseURL: "https://api.openaq.org", needsKey: true,
        // The limits are 60 a minute and 2,000 an hour; a burst of 30 and 30 a minute stay within both.
        rate: CallRate(calls: 30, per: .seconds(60)), kind: .stations, license: "see openaq.org"
    ) { OpenAQ(cities: $0.cities, scale: $0.scale, key: $0.key ?? "") }
}
