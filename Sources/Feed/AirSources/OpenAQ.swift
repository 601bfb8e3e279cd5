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
            if let place = stations[number]?.sensors.firstIndex(where: { $0.id == sensor }) {
                let reasons = stations[number]?.sensors[place].take(values) ?? []
                let pollutant = stations[number]?.sensors[place].pollutant.rawValue ?? ""
                response.omissions = Set(reasons.map { Omission($0, "\(pollutant) of \(cities[number].name)") })
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

    /// A station.
    private struct Location {
        var isMonitor: Bool
        var distance: Double
        var isIndian: Bool
        var sensors: [(id: Int, parameter: String, units: String)]
    }

    /// The stations that stay where they are and have reported within a day, in the order in which they are preferred.
    private func live(in body: [UInt8], at now: Int64) throws(SourceError) -> [Location] {
        let live = try document(in: body)["results"].elements().compactMap { location -> Location? in
            guard let last = time(location["datetimeLast"]), now - last <= staleAfter, !location["isMobile"].isTrue
            else { return nil }
            return Location(
                isMonitor: location["isMonitor"].isTrue, distance: location["distance"].looseNumber ?? 0,
                isIndian: (try? location["country"]["code"].text()) == "IN", sensors: sensors(of: location))
        }
        return live.sorted { one, other in
            one.isMonitor == other.isMonitor ? one.distance < other.distance : one.isMonitor
        }
    }

    private func sensors(of location: JSONNode) -> [(id: Int, parameter: String, units: String)] {
        ((try? location["sensors"].elements()) ?? []).compactMap { sensor in
            guard let id = sensor["id"].looseNumber.flatMap({ Int(exactly: $0) }),
                let name = try? sensor["parameter"]["name"].text(),
                let units = try? sensor["parameter"]["units"].text()
            else { return nil }
            return (id, name, units)
        }
    }

    /// Seconds since the Unix epoch.
    private func time(_ instant: JSONNode) -> Int64? { (try? instant["utc"].text()).flatMap { epochSeconds($0) } }

    /// For each pollutant, the sensors of the first stations that measure it.
    private func nearest(_ live: [Location]) throws(AirUnavailable) -> [Sensor] {
        guard !live.isEmpty else { throw AirUnavailable("no station within 25 km has reported within a day") }
        var stations: [Pollutant: Int] = [:]
        var sensors: [Sensor] = []
        for location in live {
            let usable = location.sensors.compactMap { id, parameter, units in
                sensor(id, parameter, units, isIndian: location.isIndian)
            }
            for pollutant in Pollutant.allCases where stations[pollutant, default: 0] < Self.stationsPerPollutant {
                guard let sensor = usable.first(where: { $0.pollutant == pollutant }) else { continue }
                stations[pollutant, default: 0] += 1
                sensors.append(sensor)
            }
        }
        guard sensors.contains(where: \.pollutant.isParticulateMatter) else {
            let names = Set(live.flatMap { $0.sensors.map(\.parameter) }).sorted().prefix(10)
            let reported = onOneLine(names.joined(separator: ", "))
            throw AirUnavailable(
                "its \(live.count) stations within 25 km report \(reported), and neither pm25 nor pm10")
        }
        return sensors
    }

    private func sensor(_ id: Int, _ name: String, _ units: String, isIndian: Bool) -> Sensor? {
        guard let pollutant = Pollutant(rawValue: name == "pm25" ? Pollutant.pm25.rawValue : name),
            let factor = Self.factor(of: units, pollutant)
        else { return nil }
        let isMislabelled = isIndian && units == "ppb"
        return Sensor(
            id: id, pollutant: pollutant,
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
        for hour in try document(in: body)["results"].elements() {
            guard let value = try? hour["value"].number(), let end = time(hour["period"]["datetimeTo"]) else {
                continue
            }
            hours[Int(end / 3600)] = value
        }
        return hours
    }
}

extension OpenAQ.Sensor {
    /// Replaces what is known of the sensor.
    /// - Returns: what was left out or changed, for a log.
    fileprivate mutating func take(_ values: [Int: Double]) -> [String] {
        let isInMilligrams = isIndianMonoxide && values.values.allSatisfy { $0 < OpenAQ.indianMonoxide }
        let concentrations = values.mapValues { $0 * (isInMilligrams ? 1000 : factor) }
        let negatives = concentrations.filter { (-5..<0).contains($1) }
        hours = concentrations.merging(negatives.mapValues { _ in 0 }) { $1 }.filter { Pollutant.isConcentration($1) }
        isStale = hours.isEmpty
        let spikes = pollutant.isParticulateMatter ? spikes(of: hours) : []
        for hour in spikes { hours[hour] = nil }
        return (negatives.isEmpty ? [] : ["small negative values, which count as 0"])
            + (spikes.isEmpty ? [] : ["hours that are spikes"])
    }
}
