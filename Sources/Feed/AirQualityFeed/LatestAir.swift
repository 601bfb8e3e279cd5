import AirQuality
import AirQualityIndex
import AirSources
import Bytes
import Synchronization

/// The latest air of the cities as messages, for the loop that sends changes and for the server, which greets clients.
///
/// Times are monotonic. Air that the source has not confirmed for the lifetime is no longer sent.
final class LatestAir: Sendable {
    /// Cities of a message, so that it stays far below the length that clients accept.
    private static let citiesPerMessage = 1000

    private struct Known {
        var air: CityAir
        var confirmedAt: Duration
    }

    private struct State {
        var known: [Known?]
        /// Array of elements that a jq program has made, instead of air of cities.
        var elements: (message: [UInt8], confirmedAt: Duration)?
    }

    private let cities: [PolledCity]
    private let lifetime: Duration
    private let state: Mutex<State>

    init(_ cities: [PolledCity], lifetime: Duration = .seconds(3 * 3600)) {
        self.cities = cities
        self.lifetime = lifetime
        state = Mutex(State(known: Array(repeating: nil, count: cities.count)))
    }

    /// Takes air of cities in.
    /// - Returns: messages with the air that is new.
    func update(_ news: [(city: Int, air: CityAir)], at now: Duration) -> [[UInt8]] {
        let changed = state.withLock { state in
            news.filter { city, air in
                let isNew = state.known[city]?.air != air
                state.known[city] = Known(air: air, confirmedAt: now)
                return isNew
            }
        }
        return changed.isEmpty ? [] : messages(changed)
    }

    /// Takes in the elements that replace those before.
    /// - Returns: the message with them.
    func update(elements: [UInt8], at now: Duration) -> [UInt8] {
        state.withLock { $0.elements = (elements, now) }
        return elements
    }

    /// Notes that the source still says the same of cities.
    func confirm(_ cities: [Int], at now: Duration) {
        state.withLock { state in
            for city in cities { state.known[city]?.confirmedAt = now }
        }
    }

    /// Messages with all that is known; one empty message when nothing is.
    func all(at now: Duration) -> [[UInt8]] {
        let state = state.withLock(\.self)
        if let elements = state.elements, now - elements.confirmedAt <= lifetime { return [elements.message] }
        return messages(
            state.known.indices.compactMap { city in
                guard let known = state.known[city], now - known.confirmedAt <= lifetime else { return nil }
                return (city, known.air)
            })
    }

    func isEmpty(at now: Duration) -> Bool { all(at: now).allSatisfy { $0.count <= 2 } }

    private func messages(_ airs: [(city: Int, air: CityAir)]) -> [[UInt8]] {
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

private func append(_ air: CityAir, of city: PolledCity, to message: inout [UInt8]) {
    message += "{\"city\":".utf8
    message.appendJSONString(Array(city.name.utf8).span)
    message += ",\"aqi\":".utf8
    message.appendNumber(air.index)
    message += ",\"time\":\(air.observedAt)".utf8
    // An element without the field leaves concentrations as they are; an empty field would clear them.
    appendField("pollutants", air.concentrations, to: &message)
    appendField("subindices", air.subIndices, to: &message)
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

private func appendField(_ name: String, _ values: [Pollutant: Double], to message: inout [UInt8]) {
    guard !values.isEmpty else { return }
    var separator = ",\"\(name)\":{"
    for pollutant in values.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
        message += "\(separator)\"\(pollutant.rawValue)\":".utf8
        message.appendNumber(values[pollutant] ?? 0)
        separator = ","
    }
    message.append(UInt8(ascii: "}"))
}
