internal import Bytes

/// One parameter of a form-encoded query (WHATWG URL Standard, section 5.1): `+` is a blank, `%41` is A.
package struct FormField: Sendable {
    /// As it was sent.
    package let rawName, rawValue: Substring.UTF8View.SubSequence

    /// Returns `nil` for bad escapes and for invalid UTF-8.
    package var name: [UInt8]? { Self.decoded(rawName) }
    package var value: [UInt8]? { Self.decoded(rawValue) }

    private static func decoded(_ text: Substring.UTF8View.SubSequence) -> [UInt8]? {
        percentDecoded(text, plusIsBlank: true).flatMap { isUTF8($0.span) ? $0 : nil }
    }
}

/// The parameters of a query, the part of an address behind `?`, in their order.
///
/// - Parameter limit: of what is beyond so many, all counts as one.
package func formFields(_ query: String, limit: Int = .max) -> [FormField] {
    query.utf8.split(separator: UInt8(ascii: "&"), maxSplits: limit).map { pair in
        let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        return FormField(rawName: parts[0], rawValue: parts.count == 2 ? parts[1] : pair.suffix(0))
    }
}

/// Error in a query.
public struct QueryError: Error, Equatable {
    /// For the one who asked.
    public var line: String

    package init(_ problem: String) { line = "query: \(problem)" }

    package init(_ name: String, is value: some Collection<UInt8>, expected: String) {
        self.init("\(name) is \(quoted(String(decoding: value, as: UTF8.self), limit: 64)), expected \(expected)")
    }
}

/// Digits alone; larger than 64 bits counts as the largest.
package func clampedNumber(_ text: [UInt8]) -> UInt64? {
    guard !text.isEmpty, text.allSatisfy(isDigit) else { return nil }
    return decimalNumber(text) ?? .max
}
