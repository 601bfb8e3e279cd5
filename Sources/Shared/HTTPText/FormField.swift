internal import Bytes

/// One parameter of a form-encoded query (WHATWG URL Standard, section 5.1): `+` is a blank, `%41` is A.
package struct FormField: Sendable {
    /// `nil` for bad escapes and for invalid UTF-8.
    package let name, value: [UInt8]?
}

/// The parameters of a query, the part of an address behind `?`, in their order.
package func formFields(_ query: String) -> [FormField] {
    func decoded(_ text: Substring.UTF8View) -> [UInt8]? {
        percentDecoded(text, plusIsBlank: true).flatMap { isUTF8($0.span) ? $0 : nil }
    }
    return query.utf8[...].split(separator: UInt8(ascii: "&")).map { pair in
        let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        return FormField(name: decoded(parts[0]), value: parts.count == 2 ? decoded(parts[1]) : [])
    }
}

/// Digits alone; larger than 64 bits counts as the largest.
package func clampedNumber(_ text: [UInt8]) -> UInt64? {
    guard !text.isEmpty, text.allSatisfy(isDigit) else { return nil }
    return decimalNumber(text) ?? .max
}
