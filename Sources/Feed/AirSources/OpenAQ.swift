internal import AirQualityIndex
internal import Bytes

/// OpenAQ's API, version 3: hours of official and other stations.
///
/// Documented at https://docs.openaq.org. A city is the three nearest stations within 25 km that have reported within a
/// day, reference monitors first; its hour is the mean of its sensors' hours. The stations are looked for once a day. A
/// sensor that has no hours for a day is left alone until then: many have stopped years ago. An hour is named by its end.
struct OpenAQ: AirSource {
    private static let radius = 25_000
    private static let stationsPerCity = 3
    private static let stationsLast: Int64 = 24 * 3600

    private struct Sensor {
        var id: Int
        var pollutant: Pollutant
        /// µg/m³ of one unit of the sensor.
        var factor: Double
        var hours: [Int: Double] = [:]
        var isStale = false
    }

    private struct Stations {
        var foundAt: Int64
        var sensors: [Sensor]
        /// Sensors that have not been heard of in this round.
        var pending: Set<Int> = []
    }

    let cities: [City]
    let scale: IndexScale
    let key: String
    private var stations: [Int: Stations] = [:]

    init(cities: [City], scale: IndexScale, key: String) {
        self.cities = cities
        self.scale = scale
        self.key = key
    }

    mutating func queries(for due: [Int], at now: Int64) -> [SourceQuery] {
        due.flatMap { number in
            guard let known = stations[number], now - known.foundAt < Self.stationsLast else {
                return [stationsQuery(for: number)]
            }
            return hoursQueries(for: number, at: now)
        }
    }

    mutating func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceAnswer {
        switch query.kind {
        case .stations(let number):
            let nearest = try self.nearest(in: body, at: now)
            guard !nearest.isEmpty else {
                return SourceAnswer(findings: [
                    CityFinding(city: number, .failure(NoAir("no station within 25 km has reported within a day")))
                ])
            }
            stations[number] = Stations(foundAt: now, sensors: nearest)
            return SourceAnswer(queries: hoursQueries(for: number, at: now))
        case .hours(let number, let sensor):
            let hours = try self.hours(in: body)
            if let place = stations[number]?.sensors.firstIndex(where: { $0.id == sensor }) {
                stations[number]?.sensors[place].hours = hours
                stations[number]?.sensors[place].isStale = hours.isEmpty
            }
            return SourceAnswer(findings: settled(query, at: now))
        case .cities, .page: return SourceAnswer()
        }
    }

    mutating func giveUp(_ query: SourceQuery, at now: Int64) -> [CityFinding] {
        settled(query, at: now)
    }

    /// The city's air, when this was the last of its queries.
    private mutating func settled(_ query: SourceQuery, at now: Int64) -> [CityFinding] {
        guard case .hours(let number, let sensor) = query.kind,
            stations[number]?.pending.remove(sensor) != nil, stations[number]?.pending.isEmpty == true
        else { return [] }
        return [CityFinding(city: number, scale.air(concentrations(of: number), at: now))]
    }

    private func concentrations(of number: Int) -> HourlyConcentrations {
        var values: [Pollutant: [Int: [Double]]] = [:]
        for sensor in stations[number]?.sensors ?? [] {
            for (hour, value) in sensor.hours where HourlyConcentrations.plausible.contains(value) {
                values[sensor.pollutant, default: [:]][hour, default: []].append(value * sensor.factor)
            }
        }
        var concentrations = HourlyConcentrations()
        for (pollutant, hours) in values {
            for (hour, values) in hours {
                concentrations.record(values.reduce(0, +) / Double(values.count), of: pollutant, at: hour)
            }
        }
        return concentrations
    }

    // MARK: Queries

    private func stationsQuery(for number: Int) -> SourceQuery {
        let city = cities[number]
        let place =
            city.id.map { "/" + percentEncoded($0.utf8) }
            ?? "?coordinates=\(degrees(city.latitude)),\(degrees(city.longitude))&radius=\(Self.radius)&limit=100"
        return SourceQuery(
            path: "/v3/locations" + place, headers: headers, subject: "stations of \(city.name)",
            kind: .stations(city: number))
    }

    /// Of the last 25 hours, for each sensor whose newest one is not there yet.
    private mutating func hoursQueries(for number: Int, at now: Int64) -> [SourceQuery] {
        let hour = Int(now / 3600)
        let from = rfc3339(Int64(hour - 25) * 3600)
        let wanted = (stations[number]?.sensors ?? []).filter { !$0.isStale && $0.hours[hour] == nil }
        stations[number]?.pending = Set(wanted.map(\.id))
        return wanted.map { sensor in
            SourceQuery(
                path: "/v3/sensors/\(sensor.id)/hours?datetime_from=\(from)&limit=100", headers: headers,
                subject: "\(sensor.pollutant.rawValue) of \(cities[number].name)",
                kind: .hours(city: number, sensor: sensor.id))
        }
    }

    private var headers: [String] { ["X-API-Key: " + key] }

    // MARK: Documents

    private struct Page<Element: Decodable>: Decodable {
        var results: [Lenient<Element>]
    }

    private struct Instant: Decodable {
        var utc: String
    }

    private struct Location: Decodable {
        struct Sensor: Decodable {
            struct Parameter: Decodable {
                var name: String
                var units: String
            }

            var id: Int
            var parameter: Parameter
        }

        var isMobile: Bool?
        var isMonitor: Bool?
        var distance: Double?
        var datetimeLast: Instant?
        var sensors: [Sensor]
    }

    private struct Hour: Decodable {
        struct Period: Decodable {
            var datetimeTo: Instant
        }

        var value: Double?
        var period: Period
    }

    private func nearest(in body: [UInt8], at now: Int64) throws(SourceError) -> [Sensor] {
        let locations = try decoded(Page<Location>.self, from: body).results.compactMap(\.value)
        let live = locations.filter { location in
            guard let last = location.datetimeLast.flatMap({ epochSeconds($0.utc) }) else { return false }
            return location.isMobile != true && now - last <= staleAfter
        }
        let sorted = live.sorted { one, other in
            let (isMonitor, isOtherMonitor) = (one.isMonitor == true, other.isMonitor == true)
            return isMonitor == isOtherMonitor ? one.distance ?? 0 < other.distance ?? 0 : isMonitor
        }
        return sorted.prefix(Self.stationsPerCity).flatMap(\.sensors).compactMap { sensor in
            let name = sensor.parameter.name == "pm25" ? Pollutant.pm25.rawValue : sensor.parameter.name
            guard let pollutant = Pollutant(rawValue: name),
                let factor = Self.factor(of: sensor.parameter.units, pollutant)
            else { return nil }
            return Sensor(id: sensor.id, pollutant: pollutant, factor: factor)
        }
    }

    private static func factor(of unit: String, _ pollutant: Pollutant) -> Double? {
        switch unit {
        // The micro sign, and the Greek letter.
        case "\u{B5}g/m\u{B3}", "\u{3BC}g/m\u{B3}", "ug/m3": 1
        case "mg/m\u{B3}", "mg/m3": 1000
        case "ppb": pollutant.microgramsPerPPB
        case "ppm": pollutant.microgramsPerPPB.map { $0 * 1000 }
        default: nil
        }
    }

    private func hours(in body: [UInt8]) throws(SourceError) -> [Int: Double] {
        var hours: [Int: Double] = [:]
        for hour in try decoded(Page<Hour>.self, from: body).results.compactMap(\.value) {
            guard let value = hour.value, let end = epochSeconds(hour.period.datetimeTo.utc) else { continue }
            hours[Int(end / 3600)] = value
        }
        return hours
    }
}
