internal import AirQualityIndex
internal import Bytes

/// India's Central Pollution Control Board by its own feed, for which no key is needed: one document with every station,
/// the averages of its pollutants as sub-indices, and its index.
///
/// Not documented. Read from a recording of 26 August 2026; not tried against the service.
struct CPCBFeed: AirSource {
    let cities: [City]
    var due: [Int] = []

    mutating func queries(for due: [Int], at now: Int64) -> [SourceQuery] {
        self.due = due
        return due.isEmpty
            ? [] : [SourceQuery(path: "/caaqms/rss_feed", subject: "all stations", kind: .page(offset: 0))]
    }

    mutating func read(_ body: [UInt8], of query: SourceQuery, at now: Int64) throws(SourceError) -> SourceResponse {
        var stations = CPCBStations(cities)
        var (city, isWhole) = ("", false)
        var row: CPCBStations.Row?
        var tags = XMLTags(body)
        while let tag = tags.next() {
            switch tag.name {
            case "City": city = tag.attributes["id"] ?? ""
            case "Station":
                row = CPCBStations.Row(
                    city: city, station: tag.attributes["id"] ?? "",
                    updatedAt: tag.attributes["lastupdate"].flatMap(epochSeconds(indian:)),
                    latitude: tag.number("latitude"), longitude: tag.number("longitude"))
            case "Pollutant_Index":
                guard let pollutant = CPCBStations.pollutants[tag.attributes["id"] ?? ""] else { continue }
                row?.subIndices[pollutant] = tag.number("Avg")
            case "Air_Quality_Index": row?.index = tag.number("Value")
            case "/Station":
                if let row { stations.add(row, at: now) }
                row = nil
            case "/AqIndex": isWhole = true
            default: continue
            }
        }
        guard isWhole else { throw .unreadable("it is no XML with an AqIndex that ends") }
        return SourceResponse(findings: due.map { CityFinding(city: $0, stations.air(of: $0, at: now)) })
    }
}

/// The tags of a document in their order. No document type is read, so that no entity can grow.
private struct XMLTags {
    struct Tag {
        /// With its slash where it ends an element.
        var name: String
        var attributes: [String: String] = [:]

        func number(_ name: String) -> Double? {
            attributes[name].flatMap { text in
                text.utf8.allSatisfy { "0123456789.-".utf8.contains($0) } ? Double(text) : nil
            }
        }
    }

    private static let maximumAttributes = 16

    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func next() -> Tag? {
        guard take(while: { $0 != UInt8(ascii: "<") }) != nil else { return nil }
        place += 1
        guard let name = take(while: { !Self.isBlank($0) && $0 != UInt8(ascii: ">") }) else { return nil }
        var tag = Tag(name: name)
        while true {
            _ = take(while: { Self.isBlank($0) || "/?".utf8.contains($0) })
            guard place < bytes.count, bytes[place] != UInt8(ascii: ">") else { return tag }
            guard let attribute = take(while: { !"=>".utf8.contains($0) }) else { return nil }
            guard bytes[place] == UInt8(ascii: "=") else { return tag }
            place += 1
            guard place < bytes.count, "\"'".utf8.contains(bytes[place]) else { continue }
            let quote = bytes[place]
            place += 1
            guard let value = take(while: { $0 != quote }) else { return nil }
            place += 1
            if tag.attributes.count < Self.maximumAttributes { tag.attributes[attribute] = Self.plain(value) }
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (9...13).contains(byte) }

    /// Nil at the end of the document.
    private mutating func take(while isPart: (UInt8) -> Bool) -> String? {
        guard let end = bytes[place...].firstIndex(where: { !isPart($0) }) else { return nil }
        defer { place = end }
        return String(decoding: bytes[place..<end], as: UTF8.self)
    }

    private static func plain(_ text: String) -> String {
        guard text.contains("&") else { return text }
        var text = text
        for (name, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")] {
            text = text.split(separator: name, omittingEmptySubsequences: false).joined(separator: character)
        }
        return text
    }
}
