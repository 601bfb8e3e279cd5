internal import AirQuality
internal import AirQualityIndex
internal import Bytes

/// Open-Meteo's air quality API: hourly values of the European and global CAMS models of Copernicus. Customers have a
/// key (`apikey`) and another host.
///
/// Documented at https://open-meteo.com/en/docs/air-quality-api. A request covers several places and counts as one call
/// for each. The hours run from 00:00 UTC yesterday to the end of today, so at least 24 of them are always in the past.
/// Open-Meteo's own indices are not used because they have no rule for missing hours.
struct OpenMeteo: AirSource {
    private static let maximumCities = 50
    private static let variables: [(name: String, pollutant: Pollutant)] = [
        ("pm2_5", .pm25), ("pm10", .pm10), ("nitrogen_dioxide", .no2), ("sulphur_dioxide", .so2), ("ozone", .o3),
        ("carbon_monoxide", .co), ("ammonia", .nh3),
    ]

    let cities: [PolledCity]
    let scale: IndexScale
    let key: String?
    let maximumCost: Int

    func queries(for due: [Int], at now: Int64) -> [SourceQuery] {
        let size = max(1, min(Self.maximumCities, maximumCost))
        return stride(from: 0, to: due.count, by: size).map { start in
            query(for: Array(due[start..<min(start + size, due.count)]))
        }
    }

    private func query(for indices: [Int]) -> SourceQuery {
        let places = indices.map { cities[$0] }
        let path =
            "/v1/air-quality?latitude=\(places.map { degrees($0.latitude) }.joined(separator: ","))"
            + "&longitude=\(places.map { degrees($0.longitude) }.joined(separator: ","))"
            + "&hourly=\(Self.variables.map(\.name).joined(separator: ","))"
            + "&past_days=1&forecast_days=1&timeformat=unixtime"
            + (key.map { "&apikey=" + percentEncoded($0.utf8) } ?? "")
        let others = places.count > 1 ? " and \(places.count - 1) more" : ""
        return SourceQuery(path: path, subject: places[0].name + others, cities: indices)
    }

    func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceResponse {
        let document = try document(in: body)
        // One place is an object, several are an array of them.
        let places = (try? document.elements()) ?? [document]
        guard places.count == query.cities.count else {
            throw .unreadable("it has \(places.count) places, expected \(query.cities.count)")
        }
        var response = SourceResponse()
        for (index, place) in zip(query.cities, places) {
            do throws(SourceError) {
                let hours = try hours(of: place, at: now)
                for (pollutant, hours) in hours {
                    response.omissions.formUnion(hours.omissions(of: pollutant, in: cities[index]))
                }
                let air = hours.mapValues(\.hours)
                response.findings.append(CityFinding(city: index, try scale.air(air, at: now)))
            } catch SourceError.unreadable(let text) {
                response.findings.append(CityFinding(city: index, reason: text))
            }
        }
        return response
    }

    /// The hours up to now; later ones are a forecast.
    private func hours(of place: JSONNode, at now: Int64) throws(SourceError) -> [Pollutant: PollutantHours] {
        let times = try place["hourly"]["time"].elements()
        var hours: [Pollutant: PollutantHours] = [:]
        for (name, pollutant) in Self.variables where place["hourly"][name].exists {
            let values = try place["hourly"][name].elements()
            guard values.count == times.count else {
                throw .unreadable("\(name) has \(values.count) values for \(times.count) hours")
            }
            for (time, value) in zip(times, values) where value.exists {
                let time = try time.number()
                guard (0...Double(now)).contains(time) else { continue }
                hours[pollutant, default: PollutantHours()].add(value.looseNumber, at: Int(time / 3600))
            }
        }
        return hours
    }
}

extension DataSource {
    public static let openMeteo = DataSource(
        name: "open-meteo", baseURL: "https://air-quality-api.open-meteo.com",
        baseURLWithKey: "https://customer-air-quality-api.open-meteo.com",
        // Each place is a call. The limits are 600 a minute, 5,000 an hour and 10,000 a day; a burst of 400 and 400 an
        // hour stay within all three.
        rate: CallRate(calls: 400, per: .seconds(3600)), kind: .model, license: "CC BY 4.0"
    ) { OpenMeteo(cities: $0.cities, scale: $0.scale, key: $0.key, maximumCost: $0.maximumCost) }
}
