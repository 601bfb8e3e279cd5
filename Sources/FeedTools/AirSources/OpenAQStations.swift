internal import AirQuality
internal import AirQualityIndex
internal import Bytes

/// The sensors to use for a city, chosen from the stations in an OpenAQ response: for each pollutant those of the three
/// nearest stations that measure it, reference monitors first.
struct OpenAQStations {
    private static let stationsPerPollutant = 3

    let foundAt: Int64
    var sensors: [OpenAQSensor] = []
    /// Positions of the sensors whose responses are still outstanding in this round.
    var pending: Set<Int> = []

    /// Adds what was left out to the omissions.
    init(_ locations: [JSONNode], at now: Int64, _ omissions: inout Set<Omission>) {
        foundAt = now
        var live: [(name: String, node: JSONNode)] = []
        var names: Set<String> = []
        for node in locations {
            let name = "location \(node["id"].scalar), \(node["name"].scalar)"
            let last = node["datetimeLast"]["utc"].universalTime
            if !names.insert(name).inserted {
                omissions.insert(Omission("duplicate stations", name))
            } else if node["isMobile"].scalar == "true" {
                omissions.insert(Omission("mobile stations", name))
            } else if let last, now - last <= staleAfter {
                live.append((name, node))
            } else {
                omissions.insert(Omission("stations that have not reported within a day", name))
            }
        }
        func rank(_ node: JSONNode) -> (Int, Double) {
            (node["isMonitor"].scalar == "true" ? 0 : 1, node["distance"].looseNumber ?? .infinity)
        }
        live.sort { rank($0.node) < rank($1.node) }
        for (name, node) in live {
            for sensor in Self.newestSensors(of: node, named: name, &omissions)
            where sensors.count(where: { $0.pollutant == sensor.pollutant }) < Self.stationsPerPollutant {
                sensors.append(sensor)
            }
        }
    }

    /// The station's current sensor for each pollutant: the one with the highest id, because a new instrument or unit
    /// becomes a new sensor.
    private static func newestSensors(
        of station: JSONNode, named stationName: String, _ omissions: inout Set<Omission>
    ) -> [OpenAQSensor] {
        let isIndian = station["country"]["code"].scalar == "IN"
        var newest: [Pollutant: OpenAQSensor] = [:]
        for node in (try? station["sensors"].elements()) ?? [] {
            let name = node["parameter"]["name"].scalar
            let units = node["parameter"]["units"].scalar
            guard let pollutant = name == "pm25" ? .pm25 : Pollutant(rawValue: name) else { continue }
            guard let id = node["id"].looseNumber.flatMap({ Int(exactly: $0) }),
                let sensor = OpenAQSensor(id: id, pollutant, units: units, isIndian: isIndian)
            else {
                omissions.insert(Omission("sensors with an unknown unit", "\(name) in \(units), \(stationName)"))
                continue
            }
            if id > newest[pollutant]?.id ?? .min { newest[pollutant] = sensor }
        }
        return newest.values.sorted { $0.id < $1.id }
    }
}
