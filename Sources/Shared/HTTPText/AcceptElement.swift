internal import Bytes

/// An element of an `Accept` or `Accept-Encoding` field (RFC 9110 section 12.5).
package struct AcceptElement {
    /// The media range or coding, in lower case.
    package var name: String
    /// All but the quality, in their original order: names in lower case, values without quotation marks.
    package var parameters: [(name: String, value: String)] = []
    /// In thousandths, 0 … 1000.
    package var quality = 1000

    /// Parses up to 16 elements, more than any client sends, omitting those with a malformed quality.
    package static func list(_ field: String) -> [AcceptElement] {
        splitUnquoted(field.utf8[...], at: UInt8(ascii: ","), limit: 16).compactMap { AcceptElement($0) }
    }

    private init?(_ element: Substring.UTF8View) {
        let parts = splitUnquoted(element, at: UInt8(ascii: ";"), limit: 8)
        name = parts.first.map { unquoted($0).lowercased() } ?? ""
        if name.isEmpty { return nil }
        for part in parts.dropFirst() {
            let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = unquoted(pair[0]).lowercased()
            let value = pair.count > 1 ? unquoted(pair[1]) : ""
            if name == "q" {
                guard let quality = qualityValue(value) else { return nil }
                self.quality = quality
            } else if !value.isEmpty {
                parameters.append((name, value))
            }
        }
    }
}

/// Parses a quality value (RFC 9110 section 12.4.2), 0 to 1 with at most three decimals, in thousandths; else `nil`.
func qualityValue(_ text: String) -> Int? {
    let text = text.utf8
    guard 1...5 ~= text.count, text.count == 1 || text.dropFirst().first == UInt8(ascii: ".") else { return nil }
    let digits = Array(text.prefix(1)) + text.dropFirst(2)
    let value: Int? = decimalNumber(digits + repeatElement(UInt8(ascii: "0"), count: 4 - digits.count))
    return value.flatMap { $0 <= 1000 ? $0 : nil }
}
