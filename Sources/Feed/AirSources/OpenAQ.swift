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
            var response = SourceResponse()
            let live = try live(in: body, at: now, &response.omissions)
            do throws(AirUnavailable) {
                let sensors = try nearest(live, of: number, &response.omissions)
                stations[number] = Stations(foundAt: now, sensors: sensors)
                response.queries = hoursQueries(for: number, at: now)
            } catch {
                response.findings = [CityFinding(city: number, .failure(error))]
            }
            return response
        case .hours(let number, let sensor):
            var reasons: Set<String> = []
            let values = try hours(in: body, at: now, &reasons)
            var response = SourceResponse()
            if let place = stations[number]?.sensors.firstIndex(where: { $0.id == sensor }) {
                reasons.formUnion(stations[number]?.sensors[place].take(values) ?? [])
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
        var name: String
        var isMonitor: Bool
        var distance: Double
        var isIndian: Bool
        var sensors: [(id: Int, parameter: String, units: String)]
    }

    private static let moving = "stations that move"
    private static let silent = "stations that have not reported within a day"

    /// The stations that stay where they are and have reported within a day, in the order in which they are preferred.
    private func live(
        in body: [UInt8], at now: Int64, _ omissions: inout Set<Omission>
    ) throws(SourceError) -> [Location] {
        var live: [Location] = []
        for (place, location) in try document(in: body)["results"].elements().enumerated() {
            let id = location["id"].scalar
            let name = [location["name"].scalar, id.isEmpty ? "result \(place + 1)" : "location \(id)"]
                .filter { !$0.isEmpty }.joined(separator: ", ")
            if location["isMobile"].isTrue {
                omissions.insert(Omission(Self.moving, name))
            } else if let last = time(location["datetimeLast"]), now - last <= staleAfter {
                live.append(
                    Location(
                        name: name, isMonitor: location["isMonitor"].isTrue,
                        distance: location["distance"].looseNumber ?? 0,
                        isIndian: (try? location["country"]["code"].text()) == "IN",
                        sensors: sensors(of: location, name, &omissions)))
            } else {
                omissions.insert(Omission(Self.silent, name))
            }
        }
        return live.sorted { one, other in
            one.isMonitor == other.isMonitor ? one.distance < other.distance : one.isMonitor
        }
    }

    private func sensors(
        of location: JSONNode, _ name: String, _ omissions: inout Set<Omission>
    ) -> [(id: Int, parameter: String, units: String)] {
        var sensors: [(id: Int, parameter: String, units: String)] = []
        for sensor in (try? location["sensors"].elements()) ?? [] {
            if let id = sensor["id"].looseNumber.flatMap({ Int(exactly: $0) }),
                let parameter = try? sensor["parameter"]["name"].text(),
                let units = try? sensor["parameter"]["units"].text()
            {
                sensors.append((id, parameter, units))
            } else {
                omissions.insert(Omission("sensors that cannot be read", name))
            }
        }
        return sensors
    }

    /// Seconds since the Unix epoch.
    private func time(_ instant: JSONNode) -> Int64? { (try? instant["utc"].text()).flatMap { epochSeconds($0) } }

    /// For each pollutant, the sensors of the first stations that measure it.
    private func nearest(
        _ live: [Location], of number: Int, _ omissions: inout Set<Omission>
    ) throws(AirUnavailable) -> [Sensor] {
        var stations: [Pollutant: Int] = [:]
        var sensors: [Sensor] = []
        var unknownUnits: Set<String> = []
        for location in live {
            var usable: [Sensor] = []
            for (id, name, units) in location.sensors {
                guard let pollutant = Pollutant(rawValue: name == "pm25" ? Pollutant.pm25.rawValue : name) else {
                    continue
                }
                if let sensor = Sensor(id: id, pollutant, units: units, isIndian: location.isIndian) {
                    usable.append(sensor)
                } else {
                    omissions.insert(Omission("sensors with an unknown unit", "\(name) in \(units), \(location.name)"))
                    if pollutant.isParticulateMatter { unknownUnits.insert("\(name) in \(units)") }
                }
            }
            for pollutant in Pollutant.allCases where stations[pollutant, default: 0] < Self.stationsPerPollutant {
                guard let sensor = usable.first(where: { $0.pollutant == pollutant }) else { continue }
                stations[pollutant, default: 0] += 1
                sensors.append(sensor)
            }
        }
        guard sensors.contains(where: \.pollutant.isParticulateMatter) else {
            let area = cities[number].id.map { "with the id \($0)" } ?? "within 25 km"
            throw AirUnavailable(reason(for: live, area, unknownUnits, omissions))
        }
        return sensors
    }

    /// The reason why stations give no particulate matter.
    private func reason(
        for live: [Location], _ area: String, _ unknownUnits: Set<String>, _ omissions: Set<Omission>
    ) -> String {
        func list(_ names: Set<String>) -> String { onOneLine(names.sorted().prefix(10).joined(separator: ", ")) }
        if live.isEmpty {
            let reasons = Set(omissions.map(\.reason))
            if reasons.isEmpty { return "there is no station \(area)" }
            if !reasons.contains(Self.moving) { return "no station \(area) has reported within a day" }
            return "all stations \(area) move" + (reasons.count > 1 ? " or have not reported within a day" : "")
        }
        let stations = "its \(live.count) stations \(area)"
        let reported = Set(live.flatMap { $0.sensors.map(\.parameter) })
        if !unknownUnits.isEmpty { return "\(stations) report \(list(unknownUnits)), which is an unknown unit" }
        if reported.isEmpty { return "\(stations) have no sensors" }
        return "\(stations) report \(list(reported)), and neither pm25 nor pm10"
    }

    fileprivate static func factor(of unit: String, _ pollutant: Pollutant) -> Double? {
        switch unit {
        // The micro sign, and the Greek letter.
        case "\u{B5}g/m\u{B3}", "\u{3BC}g/m\u{B3}", "ug/m3": 1
        case "mg/m\u{B3}", "mg/m3": 1000
        case "ppb": pollutant.microgramsPerPPB
        case "ppm": pollutant.microgramsPerPPB.map { $0 * 1000 }
        default: nil
        }
    }

    /// Values by hour, of which the last one counts.
    /// - Parameter reasons: those for which hours are left out are added.
    private func hours(
        in body: [UInt8], at now: Int64, _ reasons: inout Set<String>
    ) throws(SourceError) -> [Int: Double] {
        var hours: [Int: Double] = [:]
        for hour in try document(in: body)["results"].elements() {
            guard let end = time(hour["period"]["datetimeTo"]) else {
                reasons.insert("hours without a time that can be read")
                continue
            }
            guard end <= now + 3600 else {
                reasons.insert("hours in the future")
                continue
            }
            guard let value = hour["value"].looseNumber else {
                reasons.insert("hours without a value that can be read")
                continue
            }
            hours[Int(end / 3600)] = value
        }
        return hours
    }
}

extension OpenAQ.Sensor {
    /// - Returns: `nil` in an unknown unit.
    fileprivate init?(id: Int, _ pollutant: Pollutant, units: String, isIndian: Bool) {
        guard let factor = OpenAQ.factor(of: units, pollutant) else { return nil }
        let isMislabelled = isIndian && units == "ppb"
        self.init(
            id: id, pollutant: pollutant,
            factor: isMislabelled && [.no2, .so2].contains(pollutant) ? 1 : factor,
            isIndianMonoxide: isMislabelled && pollutant == .co)
    }

    /// Replaces what is known of the sensor.
    /// - Returns: what was left out or changed, for a log.
    fileprivate mutating func take(_ values: [Int: Double]) -> [String] {
        let isInMilligrams = isIndianMonoxide && values.values.allSatisfy { $0 < OpenAQ.indianMonoxide }
        let concentrations = values.mapValues { $0 * (isInMilligrams ? 1000 : factor) }
        let negatives = concentrations.filter { (-5..<0).contains($1) }
        let usable = concentrations.merging(negatives.mapValues { _ in 0 }) { $1 }
        hours = usable.filter { Pollutant.isConcentration($1) }
        var reasons: [String] = []
        if !negatives.isEmpty { reasons.append("small negative values, which count as 0") }
        if hours.count < usable.count { reasons.append("hours with a value out of range") }
        isStale = hours.isEmpty
        if isStale { reasons.append("sensors without an hour of the last day") }
        let spikes = pollutant.isParticulateMatter ? spikes(of: hours) : []
        for hour in spikes { hours[hour] = nil }
        if !spikes.isEmpty { reasons.append("hours that are spikes") }
        return reasons
    }
}
