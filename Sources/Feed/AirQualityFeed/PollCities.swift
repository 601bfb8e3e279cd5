import AirQuality
import AirSources
import Bytes
import CommandLine
import FeedSimulation
import System

/// The built-in lists of cities: CSV as a user's, made by `Cities/make-sets` from GeoNames.
enum CitySet: String, CaseIterable {
    case seeds, india, capitals

    var cities: [PolledCity] {
        get throws {
            let bytes =
                switch self {
                case .seeds: PackageResources.seeds_csv
                case .india: PackageResources.india_csv
                case .capitals: PackageResources.capitals_csv
                }
            return try readCities(bytes, name: "--set \(rawValue)").map { city in
                var city = city
                if self != .capitals { city.country = "IN" }
                return city
            }
        }
    }
}

/// Reads `city,latitude,longitude[,id][,country]`; the first row names the columns.
/// - Parameter name: of the file, for errors.
func readCities(_ bytes: [UInt8], name: String) throws(SystemError) -> [PolledCity] {
    var reader = CSVReader(bytes)
    func mistake(_ line: Int, _ reason: String) -> SystemError {
        SystemError(.configuration, "\(name):\(line): \(reason)")
    }
    func nextRow() throws(SystemError) -> (line: Int, fields: [[UInt8]])? {
        do throws(RecordingError) { return try reader.nextRow() } catch { throw mistake(error.line, error.reason) }
    }
    let expected = "expected city,latitude,longitude, then id, country, both or neither"
    let header = try nextRow()?.fields.map { String(decoding: $0, as: UTF8.self) } ?? []
    guard header.starts(with: ["city", "latitude", "longitude"]),
        [[], ["id"], ["country"], ["id", "country"]].contains(Array(header.dropFirst(3)))
    else { throw mistake(1, "the header is \(quoted(header.joined(separator: ","))), \(expected)") }
    var cities: [PolledCity] = []
    var lines: [[UInt8]: Int] = [:]
    while let (line, texts) = try nextRow() {
        guard texts.count == header.count else {
            throw mistake(line, "the row has \(texts.count) columns, expected \(header.count)")
        }
        func refusal(_ column: Int, _ expected: String) -> SystemError {
            let text = quoted(String(decoding: texts[column], as: UTF8.self))
            return mistake(line, "\(header[column]) \(text): expected \(expected)")
        }
        func degrees(_ column: Int, within bound: Double) throws(SystemError) -> Double {
            let text = String(decoding: texts[column], as: UTF8.self)
            guard let degrees = ValueFormat<Double>.number(in: -bound...bound).parse(text) else {
                throw refusal(column, "a number from -\(Int(bound)) to \(Int(bound))")
            }
            return degrees
        }
        guard let city = label(texts[0]) else {
            throw refusal(0, "a name of at most \(CityName.maximumCount) bytes of UTF-8 without control characters")
        }
        if let first = lines[Array(city.utf8)] { throw refusal(0, "each city once, it is in line \(first) already") }
        lines[Array(city.utf8)] = line
        func text(_ name: String, limit: Int) throws(SystemError) -> String? {
            guard let column = header.firstIndex(of: name), !texts[column].isEmpty else { return nil }
            guard let text = label(texts[column]), text.utf8.count <= limit else {
                throw refusal(column, "at most \(limit) bytes of UTF-8 without control characters")
            }
            return text
        }
        cities.append(
            PolledCity(
                name: city, latitude: try degrees(1, within: 90), longitude: try degrees(2, within: 180),
                id: try text("id", limit: CityName.maximumCount), country: try text("country", limit: 64)))
    }
    guard !cities.isEmpty else { throw SystemError(.configuration, "\(name): it has no cities") }
    return cities
}

/// A name that the exporter accepts as a city.
private func label(_ bytes: [UInt8]) -> String? {
    guard isUTF8(bytes.span), let name = CityName.accepted(bytes.span, in: bytes.indices) else { return nil }
    return String(decoding: bytes[name], as: UTF8.self)
}
