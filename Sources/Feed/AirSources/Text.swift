internal import Bytes

/// A coordinate with at most four decimals, eleven metres: `28.6139`.
func degrees(_ value: Double) -> String { "\((value * 10_000).rounded() / 10_000)" }

/// Seconds since the Unix epoch of RFC 3339 text.
func epochSeconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    return parseRFC3339(bytes.span).map { $0 / 1000 }
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

/// The text with `***` in place of a key, which may be percent-encoded: a source may repeat what it was sent.
public func masked(_ text: String, key: String?) -> String {
    guard let key, !key.isEmpty else { return text }
    let decoded = percentDecoded(text.utf8).map { String(decoding: $0, as: UTF8.self) } ?? text
    return (decoded.contains(key) ? decoded : text)
        .replacing(key, with: "***").replacing(percentEncoded(key.utf8), with: "***")
}
