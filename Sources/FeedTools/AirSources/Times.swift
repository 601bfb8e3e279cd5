internal import Bytes

/// Parses RFC 3339 text with optional surrounding blanks into seconds since the Unix epoch.
///
/// - Parameter zone: of text that has no zone; `nil` rejects such text.
func epochSeconds(_ text: String, zone: String? = nil) -> Int64? {
    let text = trimmed(text[...])
    let time = parseRFC3339(text.utf8Span.span) ?? zone.flatMap { parseRFC3339((text + $0).utf8Span.span) }
    return time.map { $0 / 1000 }
}

/// Parses CPCB's `21-07-2026 19:00:00`, Indian time, into seconds since the Unix epoch.
func epochSeconds(indian text: String) -> Int64? {
    let parts = text.split { "- ".contains($0) }
    return parts.count == 4 ? epochSeconds("\(parts[2])-\(parts[1])-\(parts[0])T\(parts[3])+05:30") : nil
}

/// `2026-07-21T19:00:00.000Z`.
func rfc3339(_ epochSeconds: Int64) -> String {
    var text: [UInt8] = []
    text.appendRFC3339(epochSeconds * 1000)
    return String(decoding: text, as: UTF8.self)
}
