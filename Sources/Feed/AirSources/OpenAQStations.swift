internal import AirQuality
internal import AirQualityIndex
internal import Bytes

/// The stations of one response of OpenAQ, and the sensors of a city that follow from them: for each pollutant those of
/// the three nearest stations that measure it, reference monitors first.
struct OpenAQStations {
    private static let stationsPerPollutant = 3

    private(set) var sensors: [OpenAQSensor] = []
    private(set) var omissions: Set<Omission> = []
    private var liveCount = 0
    /// Parameters of the live stations, by the names that OpenAQ has, with the unit where that is unknown.
    private var parameters: Set<String> = []

    init(_ locations: [JSONNode], at now: Int64) {
        var live: [(name: String, node: JSONNode)] = []
        var names: Set<String> = []
        for (place, node) in locations.enumerated() {
            let id = node["id"].scalar
            let given = String(node["name"].scalar.unicodeScalars.prefix(100))
            let name = [given, id.isEmpty ? "result \(place + 1)" : "location \(id)"]
                .filter { !$0.isEmpty }.joined(separator: ", ")
            let last = node["datetimeLast"]["utc"].universalTime
            if !names.insert(name).inserted {
                omissions.insert(Omission("stations that come twice", name))
            } else if node["isMobile"].scalar == "true" {
                omissions.insert(Omission("stations that move", name))
            } else if let last, now - last <= staleAfter {
                live.append((name, node))
            } else {
                omissions.insert(Omission("stations that have not reported within a day", name))
            }
        }
        liveCount = live.count
        func metres(to node: JSONNode) -> Double { node["distance"].looseNumber ?? .infinity }
        live.sort { one, other in
            let isMonitor = one.node["isMonitor"].scalar == "true"
            guard isMonitor == (other.node["isMonitor"].scalar == "true") else { return isMonitor }
            return metres(to: one.node) < metres(to: other.node)
        }
        for (name, node) in live {
            for sensor in newestSensors(of: node, named: name)
            where sensors.count(where: { $0.pollutant == sensor.pollutant }) < Self.stationsPerPollutant {
                sensors.append(sensor)
            }
        }
    }

    /// The station's sensor of each pollutant. A new instrument or unit is a new sensor, so of several the one with the
    /// highest number is the one at work.
    private mutating func newestSensors(of station: JSONNode, named stationName: String) -> [OpenAQSensor] {
        let isIndian = station["country"]["code"].scalar == "IN"
        var newest: [Pollutant: OpenAQSensor] = [:]
        for sensor in (try? station["sensors"].elements()) ?? [] {
            guard let id = sensor["id"].looseNumber.flatMap({ Int(exactly: $0) }),
                let name = try? sensor["parameter"]["name"].text(), let units = try? sensor["parameter"]["units"].text()
            else {
                omissions.insert(Omission("sensors that cannot be read", stationName))
                continue
            }
            guard let pollutant = name == "pm25" ? .pm25 : Pollutant(rawValue: name) else {
                parameters.insert(name)
                continue
            }
            guard let sensor = OpenAQSensor(id: id, pollutant, units: units, isIndian: isIndian) else {
                parameters.insert("\(name) in \(units)")
                omissions.insert(Omission("sensors with an unknown unit", "\(name) in \(units), \(stationName)"))
                continue
            }
            parameters.insert(name)
            if id > newest[pollutant]?.id ?? .min { newest[pollutant] = sensor }
        }
        return newest.values.sorted { $0.id < $1.id }
    }

    /// Reason why no sensor in the area has particulate matter, such as `within 25 km`; `nil` where there are.
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
