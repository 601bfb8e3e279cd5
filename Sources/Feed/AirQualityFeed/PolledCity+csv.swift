import AirQuality
import AirSources
import Bytes
import CommandLine
import FeedSimulation

extension PolledCity {
    /// Reads `city,latitude,longitude[,id][,country]`; the first row names the columns.
    static func list(csv bytes: [UInt8]) throws(RecordingError) -> [PolledCity] {
        var reader = CSVReader(bytes)
        let header = try reader.nextRow()?.fields.map { String(decoding: $0, as: UTF8.self) } ?? []
        guard header.starts(with: ["city", "latitude", "longitude"]),
            [[], ["id"], ["country"], ["id", "country"]].contains(Array(header.dropFirst(3)))
        else {
            let shown = quoted(header.joined(separator: ","))
            let expected = "expected city,latitude,longitude, then id, country, both or neither"
            throw RecordingError(line: 1, "the header is \(shown), \(expected)")
        }
        var cities: [PolledCity] = []
        var lines: [[UInt8]: Int] = [:]
        while let (line, fields) = try reader.nextRow() {
            guard fields.count == header.count,
                let city = PolledCity(row: Dictionary(uniqueKeysWithValues: zip(header, fields)))
            else {
                let row = quoted(String(decoding: Array(fields.joined(separator: ",".utf8)), as: UTF8.self))
                let expected = "\(header.joined(separator: ",")) with degrees, and texts of at most 128 bytes of UTF-8"
                throw RecordingError(line: line, "the row is \(row), expected \(expected)")
            }
            if let first = lines.updateValue(line, forKey: Array(city.name.utf8)) {
                throw RecordingError(line: line, "the city \(quoted(city.name)) is in line \(first) already")
            }
            cities.append(city)
        }
        guard !cities.isEmpty else { throw RecordingError(line: 2, "there is no city") }
        return cities
    }

    /// - Parameter row: fields by their columns.
    private init?(row: [String: [UInt8]]) {
        func degrees(_ column: String, within bound: Double) -> Double? {
            ValueFormat<Double>.number(in: -bound...bound).parse(String(decoding: row[column] ?? [], as: UTF8.self))
        }
        /// A text that the exporter accepts as the name of a city.
        func text(_ column: String) -> String? {
            guard let bytes = row[column], isUTF8(bytes.span) else { return nil }
            return CityName.accepted(bytes.span, in: bytes.indices).map { String(decoding: bytes[$0], as: UTF8.self) }
        }
        let hasUnusableText = ["id", "country"].contains { row[$0]?.isEmpty == false && text($0) == nil }
        guard !hasUnusableText, let name = text("city"), let latitude = degrees("latitude", within: 90),
            let longitude = degrees("longitude", within: 180)
        else { return nil }
        self.init(name: name, latitude: latitude, longitude: longitude, id: text("id"), country: text("country"))
    }
}
