import AirQuality
import Bytes
import HTTPText

/// The source as the handshake's response says it: `Air-Quality-Source: open-meteo; kind=model; license="CC BY 4.0"`.
extension FeedSource {
    /// Bytes of each value; a longer one counts as not there.
    static let maximumBytes = 128

    /// Reads the first such field; `nil` when the response names no source.
    init?(_ fields: HTTPFields) {
        guard let text = fields.first(Self.fieldName) else { return nil }
        let parts = Self.parts(text)
        guard Self.isAccepted(parts[0]), !parts[0].isEmpty else { return nil }
        self.init(name: parts[0])
        for part in parts.dropFirst() {
            guard let equals = part.firstIndex(of: "=") else { continue }
            let value = String(part[part.index(after: equals)...])
            guard Self.isAccepted(value) else { continue }
            switch part[..<equals].lowercased() {
            case "kind" where value == "model" || value == "stations": kind = value
            case "license": license = value
            default: break
            }
        }
    }

    private static func isAccepted(_ value: String) -> Bool {
        value.utf8.count <= maximumBytes && !value.unicodeScalars.contains(where: breaksLine)
    }

    /// The texts between the semicolons outside of quotation marks, without the blanks around it and without the
    /// quotation marks (RFC 9110, section 5.6.6).
    private static func parts(_ text: String) -> [String] {
        var parts = [""]
        var isQuoted = false
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if !isEscaped, scalar == "\"" {
                isQuoted.toggle()
            } else if !isEscaped, isQuoted, scalar == "\\" {
                isEscaped = true
            } else if !isQuoted, scalar == ";" {
                parts.append("")
            } else {
                isEscaped = false
                parts[parts.count - 1].unicodeScalars.append(scalar)
            }
        }
        return parts.map { String(trimmed(Substring($0))) }
    }
}
