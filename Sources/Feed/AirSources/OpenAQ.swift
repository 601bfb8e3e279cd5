internal import AirQuality
internal import AirQualityIndex
internal import Bytes

/// OpenAQ's API, version 3: hours of official and other stations.
///
/// Documented at https://docs.openaq.org. For each pollutant, a city has the sensors of the three nearest stations
/// within 25 km that measure it and have reported within a day, reference monitors first; its hour is the mean of
/// theirs. Without particulate matter there is no index. The stations are looked for once a day. A sensor that has no
/// hours for a day is left alone until then: many have stopped years ago. An hour is named by its end. Instruments near
/// zero drift below it: values from -5 to 0 µg/m³ count as 0.
///
/// Since 18 February 2025 India's nitrogen and sulphur dioxide come in µg/m³ and its carbon monoxide in mg/m³, all of
/// them labelled ppb.
struct OpenAQ: AirSource {
    private static let radius = 25_000
    private static let stationsPerPollutant = 3
    private static let stationsLast: Int64 = 24 * 3600
    /// Locations come sorted by their numbers, so the nearest ones may be the last. More are not allowed.
    private static let maximumLocations = 1000
    /// India's carbon monoxide in mg/m³ is below this, and no city's is as low in ppb.
    fileprivate static let indianMonoxide = 50.0

    fileprivate struct Sensor {
        var id: Int
        var pollutant: Pollutant
        /// Micrograms per cubic metre of one unit of the sensor.
        var factor: Double
        /// Its carbon monoxide is labelled ppb, and in mg/m³ when it is low.
        var isIndianMonoxide = false
        /// Concentrations in µg/m³ by hour.
        var hours: [Int: Double] = [:]
        /// Hours whose small negative value counts as 0.
        var negatives = 0
        var newestSpike = 0
        var isStale = false
    }

    private struct Stations {
        var foundAt: Int64
        var sensors: [Sensor]
        /// Sensors that have not been heard of in this round.
        var pending: Set<Int> = []
    }

    let cities: [PolledCity]
    let scale: IndexScale
    let key: String
    private var stations: [Int: Stations] = [:]

    init(cities: [PolledCity], scale: IndexScale, key: String) {
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

    mutating func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceResponse {
        switch query.kind {
        case .stations(let number):
            let live = try live(in: body, at: now)
            do throws(AirUnavailable) {
                stations[number] = Stations(foundAt: now, sensors: try nearest(live))
            } catch {
                return SourceResponse(findings: [CityFinding(city: number, .failure(error))])
            }
            return SourceResponse(queries: hoursQueries(for: number, at: now))
        case .hours(let number, let sensor):
            let values = try self.hours(in: body)
            var response = SourceResponse()
            if var known = stations[number], let place = known.sensors.firstIndex(where: { $0.id == sensor }) {
                response.spikes = known.sensors[place].take(values)
                let name = "\(known.sensors[place].pollutant.rawValue) of \(cities[number].name)"
                if known.sensors[place].negatives > 0 {
                    response.omissions.insert(Omission("small negative values, which count as 0", name))
                }
                if response.spikes > 0 { response.omissions.insert(Omission("hours that are spikes", name)) }
                stations[number] = known
            }
            response.findings = settled(query, at: now)
            return response
        case .cities, .page, .document: return SourceResponse()
        }
    }

    mutating func giveUp(_ query: SourceQuery, at now: Int64) -> SourceResponse {
        SourceResponse(findings: settled(query, at: now))
    }

    /// The city's air, when this was the last of its queries.
    private mutating func settled(_ query: SourceQuery, at now: Int64) -> [CityFinding] {
        guard case .hours(let number, let sensor) = query.kind,
            stations[number]?.pending.remove(sensor) != nil, stations[number]?.pending.isEmpty == true
        else { return [] }
        let concentrations = concentrations(of: number)
        guard concentrations.hasParticulateMatter(at: Int(now / 3600)) else {
            return [CityFinding(city: number, .failure(AirUnavailable("no station gives pm2_5 or pm10 now")))]
        }
        return [CityFinding(city: number, scale.air(concentrations, at: now))]
    }

    private func concentrations(of number: Int) -> HourlyConcentrations {
        var values: [Pollutant: [Int: [Double]]] = [:]
        for sensor in stations[number]?.sensors ?? [] {
            for (hour, value) in sensor.hours {
                values[sensor.pollutant, default: [:]][hour, default: []].append(value)
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
            ?? "?coordinates=\(degrees(city.latitude)),\(degrees(city.longitude))&radius=\(Self.radius)"
            + "&limit=\(Self.maximumLocations)"
        return SourceQuery(
            path: "/v3/locations" + place, headers: headers, subject: "stations of \(city.name)",
            kind: .stations(city: number))
    }

    /// Queries for the last 25 hours of each sensor whose newest hour is not there yet.
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

    private struct Page<Element: Decodable>: Decodable { var results: List<Element> }

    private struct Instant: Decodable { var utc: String }

    private struct Location: Decodable {
        struct Sensor: Decodable {
            struct Parameter: Decodable {
                var name: String
                var units: String
            }

            var id: Int
            var parameter: Parameter
        }

        struct Country: Decodable { var code: String? }

        var country: Country?
        var isMobile: Bool?
        var isMonitor: Bool?
        var distance: Double?
        var datetimeLast: Instant?
        var sensors: [Sensor]
    }

    private struct Hour: Decodable {
        struct Period: Decodable { var datetimeTo: Instant }

        var value: Double?
        var period: Period
    }

    /// The stations that stay where they are and have reported within a day, in the order in which they are preferred.
    private func live(in body: [UInt8], at now: Int64) throws(SourceError) -> [Location] {
        let locations = try decoded(Page<Location>.self, from: body).results.elements
        let live = locations.filter { location in
            guard let last = location.datetimeLast.flatMap({ epochSeconds($0.utc) }) else { return false }
            return location.isMobile != true && now - last <= staleAfter
        }
        return live.sorted { one, other in
            let isMonitor = one.isMonitor == true
            guard isMonitor == (other.isMonitor == true) else { return isMonitor }
            return one.distance ?? 0 < other.distance ?? 0
        }
    }

    /// For each pollutant, the sensors of the first stations that measure it.
    private func nearest(_ live: [Location]) throws(AirUnavailable) -> [Sensor] {
        guard !live.isEmpty else { throw AirUnavailable("no station within 25 km has reported within a day") }
        var stations: [Pollutant: Int] = [:]
        var sensors: [Sensor] = []
        for location in live {
            let isIndian = location.country?.code == "IN"
            let usable = location.sensors.compactMap { sensor($0, isIndian: isIndian) }
            for pollutant in Pollutant.allCases where stations[pollutant, default: 0] < Self.stationsPerPollutant {
                guard let sensor = usable.first(where: { $0.pollutant == pollutant }) else { continue }
                stations[pollutant, default: 0] += 1
                sensors.append(sensor)
            }
        }
        guard sensors.contains(where: \.pollutant.isParticulateMatter) else {
            let names = Set(live.flatMap { $0.sensors.map(\.parameter.name) }).sorted().prefix(10)
            let reported = onOneLine(names.joined(separator: ", "))
            throw AirUnavailable(
                "its \(live.count) stations within 25 km report \(reported), and neither pm25 nor pm10")
        }
        return sensors
    }

    private func sensor(_ sensor: Location.Sensor, isIndian: Bool) -> Sensor? {
        let name = sensor.parameter.name
        let units = sensor.parameter.units
        guard let pollutant = Pollutant(rawValue: name == "pm25" ? Pollutant.pm25.rawValue : name),
            let factor = Self.factor(of: units, pollutant)
        else { return nil }
        let isMislabelled = isIndian && units == "ppb"
        return Sensor(
            id: sensor.id, pollutant: pollutant,
            factor: isMislabelled && [.no2, .so2].contains(pollutant) ? 1 : factor,
            isIndianMonoxide: isMislabelled && pollutant == .co)
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
        // The last value of an hour counts.
        for hour in try decoded(Page<Hour>.self, from: body).results.elements {
            guard let value = hour.value, let end = epochSeconds(hour.period.datetimeTo.utc) else { continue }
            hours[Int(end / 3600)] = value
        }
        return hours
    }
}

extension OpenAQ.Sensor {
    /// Replaces what is known of the sensor.
    /// - Returns: how many spikes were left out that were not known before.
    fileprivate mutating func take(_ values: [Int: Double]) -> Int {
        let isInMilligrams = isIndianMonoxide && values.values.allSatisfy { $0 < OpenAQ.indianMonoxide }
        let concentrations = values.mapValues { $0 * (isInMilligrams ? 1000 : factor) }
        negatives = concentrations.values.count { (-5..<0).contains($0) }
        hours = concentrations.mapValues { (-5..<0).contains($0) ? 0 : $0 }.filter { Pollutant.isConcentration($1) }
        isStale = hours.isEmpty
        guard pollutant.isParticulateMatter else { return 0 }
        let spikes = spikes(of: hours)
        for hour in spikes { hours[hour] = nil }
        defer { newestSpike = max(newestSpike, spikes.max() ?? 0) }
        return spikes.count { $0 > newestSpike }
    }
}
