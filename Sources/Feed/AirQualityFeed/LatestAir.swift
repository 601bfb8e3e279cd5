import AirQuality
import AirQualityIndex
import AirSources
import Bytes
import Synchronization

/// The latest air of the cities, and which of it is still to be sent: between the thread that polls and the one that sends.
final class LatestAir: Sendable {
    /// So that a message stays far below what clients accept.
    private static let citiesPerMessage = 1000

    private struct State {
        var known: [CityAir?]
        /// In the order in which they came.
        var news: [Int] = []
    }

    private let cities: [City]
    private let state: Mutex<State>

    init(_ cities: [City]) {
        self.cities = cities
        state = Mutex(State(known: Array(repeating: nil, count: cities.count)))
    }

    func update(_ news: [(city: Int, air: CityAir)]) {
        state.withLock { state in
            for (city, air) in news where state.known[city] != air {
                state.known[city] = air
                state.news.append(city)
            }
        }
    }

    var hasChanges: Bool { state.withLock { !$0.news.isEmpty } }

    /// Messages with all changes since the last call.
    func takeChanges() -> [[UInt8]] {
        let news = state.withLock { state in
            defer { state.news = [] }
            return state.news.compactMap { city in state.known[city].map { (city, $0) } }
        }
        return news.isEmpty ? [] : messages(news)
    }

    /// Messages with all that is known; one empty message when nothing is.
    func all() -> [[UInt8]] {
        let known = state.withLock(\.known)
        return messages(known.indices.compactMap { city in known[city].map { (city, $0) } })
    }

    private func messages(_ airs: [(Int, CityAir)]) -> [[UInt8]] {
        stride(from: 0, to: max(1, airs.count), by: Self.citiesPerMessage).map { start in
            var message = [UInt8(ascii: "[")]
            for (city, air) in airs[start..<min(start + Self.citiesPerMessage, airs.count)] {
                if message.count > 1 { message.append(UInt8(ascii: ",")) }
                append(air, of: cities[city], to: &message)
            }
            message.append(UInt8(ascii: "]"))
            return message
        }
    }
}

private func append(_ air: CityAir, of city: City, to message: inout [UInt8]) {
    message += "{\"city\":".utf8
    message.appendJSONString(Array(city.name.utf8).span)
    message += ",\"aqi\":".utf8
    message.appendNumber(air.index)
    message += ",\"time\":\(air.observedAt)".utf8
    // An element without the member says nothing of concentrations; an empty one would say that there are none.
    appendMember("pollutants", air.concentrations, to: &message)
    appendMember("subindices", air.subIndices, to: &message)
    message += ",\"place\":{\"latitude\":".utf8
    message.appendNumber(city.latitude)
    message += ",\"longitude\":".utf8
    message.appendNumber(city.longitude)
    if let country = city.country {
        message += ",\"country\":".utf8
        message.appendJSONString(Array(country.utf8).span)
    }
    message += "},\"basis\":\"\(air.basis)\"".utf8
    if let attribution = air.attribution {
        message += ",\"attribution\":".utf8
        message.appendJSONString(Array(attribution.utf8).span)
    }
    message.append(UInt8(ascii: "}"))
}

private func appendMember(_ name: String, _ values: [Pollutant: Double], to message: inout [UInt8]) {
    guard !values.isEmpty else { return }
    var separator = ",\"\(name)\":{"
    for pollutant in values.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
        message += "\(separator)\"\(pollutant.rawValue)\":".utf8
        message.appendNumber(values[pollutant] ?? 0)
        separator = ","
    }
    message.append(UInt8(ascii: "}"))
}
