import AirQuality
import AirSources
import Bytes
import CommandLine
import FeedSimulation

extension PolledCity {
    /// Reads the columns city, latitude, longitude and, if present, id and country. Names must be unique.
    static func list(csv bytes: [UInt8]) throws(RecordingError) -> [PolledCity] {
        var cities: [PolledCity] = []
        var lines: [[UInt8]: Int] = [:]
        let columns = ["city", "latitude", "longitude"]
        try readCSV(bytes, columns: columns, optional: ["id", "country"]) { (line, fields) throws(RecordingError) in
            guard let city = PolledCity(fields) else {
                let row = quoted(String(decoding: Array(fields.joined(separator: ",".utf8)), as: UTF8.self))
                let expected = "coordinates in degrees and other fields of at most 128 bytes of UTF-8"
                throw RecordingError(
                    line: line, "city,latitude,longitude,id,country are \(row), expected \(expected)")
            }
            if let first = lines.updateValue(line, forKey: Array(city.name.utf8)) {
                throw RecordingError(line: line, "the city \(quoted(city.name)) is already on line \(first)")
            }
            cities.append(city)
        }
        guard !cities.isEmpty else { throw RecordingError(line: 2, "there are no cities") }
        return cities
    }

    /// - Parameter fields: city, latitude, longitude, id and country; the last two may be empty.
    private init?(_ fields: [[UInt8]]) {
        func degrees(_ field: [UInt8], within bound: Double) -> Double? {
            ValueFormat<Double>.number(in: -bound...bound).parse(String(decoding: field, as: UTF8.self))
        }
        /// Returns text that the exporter accepts as a city's name; `nil` for any other.
        func text(_ field: [UInt8]) -> String? {
            guard isUTF8(field.span) else { return nil }
            return CityName.accepted(field.span, in: field.indices).map { String(decoding: field[$0], as: UTF8.self) }
        }
        guard let name = text(fields[0]), let latitude = degrees(fields[1], within: 90),
            let longitude = degrees(fields[2], within: 180),
            fields[3...].allSatisfy({ $0.isEmpty || text($0) != nil })
        else { return nil }
        self.init(name: name, latitude: latitude, longitude: longitude, id: text(fields[3]), country: text(fields[4]))
    }
}
