internal import AirQuality
internal import AirQualityIndex
internal import Bytes

/// The stations of one response of OpenAQ, and the sensors of a city that follow from them: for each pollutant those of
/// the three nearest stations that measure it, reference monitors first.
struct OpenAQStations {
    private static let stationsPerPollutant = 3

    private struct Station {
        let name: String
        let isMonitor: Bool
        /// Metres; infinite where it is not said.
        let distance: Double
        let node: JSONNode
    }

    private(set) var sensors: [OpenAQSensor] = []
    private(set) var omissions: Set<Omission> = []
    private var liveCount = 0
    /// Parameters of the live stations, by the names that OpenAQ has, with the unit where that is unknown.
    private var parameters: Set<String> = []

    /// - Parameter now: seconds since the Unix epoch.
    init(_ locations: [JSONNode], at now: Int64) {
        var live: [Station] = []
        var names: Set<String> = []
        for (place, node) in locations.enumerated() {
            let id = node["id"].scalar
            let name = [node["name"].scalar, id.isEmpty ? "result \(place + 1)" : "location \(id)"]
                .filter { !$0.isEmpty }.joined(separator: ", ")
            let last = node["datetimeLast"]["utc"].universalTime
            if !names.insert(name).inserted {
                omissions.insert(Omission("stations that come twice", name))
            } else if node["isMobile"].isTrue {
                omissions.insert(Omission("stations that move", name))
            } else if let last, now - last <= staleAfter {
                let distance = node["distance"].looseNumber ?? .infinity
                live.append(Station(name: name, isMonitor: node["isMonitor"].isTrue, distance: distance, node: node))
            } else {
                omissions.insert(Omission("stations that have not reported within a day", name))
            }
        }
        liveCount = live.count
        var counts: [Pollutant: Int] = [:]
        let preferred = live.sorted { one, other in
            one.isMonitor == other.isMonitor ? one.distance < other.distance : one.isMonitor
        }
        for station in preferred {
            for (pollutant, sensor) in newestSensors(of: station)
            where counts[pollutant, default: 0] < Self.stationsPerPollutant {
                counts[pollutant, default: 0] += 1
                sensors.append(sensor)
            }
        }
    }

    /// The station's sensor of each pollutant. A new instrument or unit is a new sensor, so of several the one with the
    /// highest number is the one at work.
    private mutating func newestSensors(of station: Station) -> [(key: Pollutant, value: OpenAQSensor)] {
        let isIndian = station.node["country"]["code"].scalar == "IN"
        var newest: [Pollutant: OpenAQSensor] = [:]
        for sensor in (try? station.node["sensors"].elements()) ?? [] {
            guard let id = sensor["id"].looseNumber.flatMap({ Int(exactly: $0) }),
                let name = try? sensor["parameter"]["name"].text(), let units = try? sensor["parameter"]["units"].text()
            else {
                omissions.insert(Omission("sensors that cannot be read", station.name))
                continue
            }
            let pollutant = Pollutant(rawValue: name == "pm25" ? Pollutant.pm25.rawValue : name)
            guard let pollutant else {
                parameters.insert(name)
                continue
            }
            guard let sensor = OpenAQSensor(id: id, pollutant, units: units, isIndian: isIndian) else {
                parameters.insert("\(name) in \(units)")
                omissions.insert(Omission("sensors with an unknown unit", "\(name) in \(units), \(station.name)"))
                continue
            }
            parameters.insert(name)
            if id > newest[pollutant]?.id ?? .min { newest[pollutant] = sensor }
        }
        return newest.sorted { $0.value.id < $1.value.id }
    }

    /// The reason why there are no sensors of particulate matter; `nil` where there are.
    /// - Parameter area: where the stations are, such as `within 25 km`.
    func reasonWithoutParticles(_ area: String) -> String? {
        if sensors.contains(where: \.pollutant.isParticulateMatter) { return nil }
        if liveCount > 0 {
            let list = onOneLine(parameters.sorted().prefix(10).joined(separator: ", "))
            return "its \(liveCount) stations \(area) report \(list.isEmpty ? "nothing" : list), "
                + "and neither pm25 nor pm10 in a known unit"
        }
        let reasons = Set(omissions.map(\.reason)).sorted().joined(separator: ", ")
        return reasons.isEmpty ? "there is no station \(area)" : "\(area) are only \(reasons)"
    }
}
