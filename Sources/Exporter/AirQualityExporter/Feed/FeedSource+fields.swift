import AirQuality
import Bytes
import HTTPText

/// The source that the handshake's response names: `Air-Quality-Source: open-meteo; kind=model; license="CC BY 4.0"`.
extension FeedSource {
    /// Parses the first such field; `nil` if the response names no source.
    init?(_ fields: [HTTPField]) {
        guard let text = fields.first(Self.fieldName) else { return nil }
        let parts = splitUnquoted(text.utf8[...], at: UInt8(ascii: ";"), limit: 8)
        let name = unquoted(parts[0])
        guard Self.isAccepted(name), !name.isEmpty else { return nil }
        self.init(name: name)
        for part in parts.dropFirst().map({ trimmed($0) }) {
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let value = unquoted(part[equals...].dropFirst())
            guard Self.isAccepted(value) else { continue }
            switch String(decoding: part[..<equals], as: UTF8.self).lowercased() {
            case "kind" where ["model", "stations", "simulation"].contains(value): kind = value
            case "license": license = value
            default: break
            }
        }
    }

    /// Whether a value is used; others count as absent.
    private static func isAccepted(_ value: String) -> Bool {
        value.utf8.count <= 128 && !value.unicodeScalars.contains(where: breaksLine)
    }
}
