internal import Bytes

/// Seconds since the Unix epoch of RFC 3339 text, with blanks around it or not. A text without a zone is in `zone`, and
/// no time where that is `nil`.
func epochSeconds(_ text: String, zone: String? = nil) -> Int64? {
    let text = trimmed(text[...])
    let time = parseRFC3339(text.utf8Span.span) ?? zone.flatMap { parseRFC3339((text + $0).utf8Span.span) }
    return time.map { $0 / 1000 }
}

/// Seconds since the Unix epoch of `21-07-2026 19:00:00` in Indian time, as CPCB writes it.
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
