public import Bytes

/// Candidates that a shell can offer for a value.
public enum Suggestions: Sendable, Equatable {
    case none
    /// A closed set, without blanks and quotes.
    case words([String])
    case files
}

/// Parser and printer of a flag's value.
public struct ValueFormat<Value: Sendable>: Sendable {
    /// Placeholder of the value in `--help`.
    public let placeholder: String
    /// Completes the error for a text that is refused: "expected …".
    public let expected: @Sendable (_ refused: String) -> String
    /// Reads a value; `nil` for text that is not in the format.
    public let parse: @Sendable (String) -> Value?
    /// A value as a user would write it; `nil` where no default is shown.
    public let text: (@Sendable (Value) -> String)?
    public let suggestions: Suggestions

    public init(
        _ placeholder: String, expected: @escaping @Sendable (_ refused: String) -> String,
        text: (@Sendable (Value) -> String)? = nil, suggestions: Suggestions = .none,
        parse: @escaping @Sendable (String) -> Value?
    ) {
        self.placeholder = placeholder
        self.expected = expected
        self.text = text
        self.suggestions = suggestions
        self.parse = parse
    }

    public init(
        _ placeholder: String, expected: String, text: (@Sendable (Value) -> String)? = nil,
        suggestions: Suggestions = .none, parse: @escaping @Sendable (String) -> Value?
    ) {
        self.init(placeholder, expected: { _ in expected }, text: text, suggestions: suggestions, parse: parse)
    }

    /// One of a closed set of values, in upper or lower case.
    ///
    /// - Parameters:
    ///   - expected: `nil` = their names.
    ///   - otherNames: accepted as well, in lower case.
    public static func one(
        of values: [Value], named name: @escaping @Sendable (Value) -> String, expected: String? = nil,
        otherNames: [String: Value] = [:]
    ) -> Self {
        let names = values.map(name)
        return Self(
            "NAME", expected: expected ?? names.joined(separator: ", or "), text: name, suggestions: .words(names)
        ) { text in
            let text = text.lowercased()
            return values.first { name($0).lowercased() == text } ?? otherNames[text]
        }
    }
}

extension ValueFormat<String> {
    /// Any text, none as well.
    public static var text: Self { Self("TEXT", expected: "text", text: \.self) { $0 } }

    /// The path of a file, which need not be there.
    public static var file: Self {
        Self("FILE", expected: "text that is not empty", suggestions: .files) { $0.isEmpty ? nil : $0 }
    }
}

extension ValueFormat<Bool> {
    public static var boolean: Self {
        one(of: [true, false], named: { $0 ? "true" : "false" }, expected: "true or false")
    }
}

extension ValueFormat where Value: CaseIterable & RawRepresentable<String> {
    /// One of the names of a closed set.
    public static var choice: Self { one(of: Array(Value.allCases), named: \.rawValue) }
}

// MARK: Numbers

extension ValueFormat<Int> {
    /// A whole number in decimal digits.
    public static func integer(in range: ClosedRange<Int> = .min ... .max) -> Self {
        Self("NUMBER", expected: "a whole number" + words(for: range, in: ""), text: \.description) { text in
            let digits = text.utf8.dropFirst(text.hasPrefix("-") ? 1 : 0)
            guard digits.allSatisfy(isDigit), let number = Int(text), range.contains(number) else { return nil }
            return number
        }
    }

    /// A number of bytes, or of `KiB`, `MiB` or `GiB`.
    public static func bytes(in range: ClosedRange<Int> = 0 ... .max) -> Self {
        let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("", 1)]
        return Self(
            "SIZE", expected: "a size in bytes, or with KiB, MiB or GiB" + words(for: range, in: " bytes"),
            text: { bytes in
                for (name, size) in units where bytes >= size && bytes % size == 0 { return "\(bytes / size)\(name)" }
                return "0"
            },
            parse: { text in
                guard let unit = units.first(where: { text.hasSuffix($0.0) }),
                    let count: Int = decimalNumber(text.utf8.dropLast(unit.0.utf8.count))
                else { return nil }
                let (bytes, isTooLarge) = count.multipliedReportingOverflow(by: unit.1)
                return isTooLarge || !range.contains(bytes) ? nil : bytes
            })
    }

    private static func words(for range: ClosedRange<Int>, in unit: String) -> String {
        switch (range.lowerBound, range.upperBound) {
        case (.min, .max): ""
        case (0, .max) where !unit.isEmpty: ""
        case (let least, .max): ", \(least)\(unit) or more"
        case (let least, let most): ", \(least) to \(most)\(unit)"
        }
    }
}

extension ValueFormat<UInt64> {
    /// A whole number from 0 to 2⁶⁴ − 1: what starts a random generator.
    public static var seed: Self {
        Self("NUMBER", expected: "a whole number, 0 to \(UInt64.max)") { decimalNumber($0.utf8) }
    }
}

extension ValueFormat<Double> {
    /// A finite number in decimal notation, with an exponent or without.
    public static func number(in range: ClosedRange<Double>) -> Self {
        Self(
            "NUMBER", expected: "a number, \(range.lowerBound) to \(range.upperBound)",
            text: { $0 == $0.rounded() ? "\(Int($0))" : "\($0)" },
            parse: { text in
                // `Double("0x10")`, `Double("nan")` and `Double("inf")` are numbers to Swift.
                guard text.utf8.allSatisfy({ "0123456789.eE+-".utf8.contains($0) }) else { return nil }
                return Double(text).flatMap { range.contains($0) ? $0 : nil }
            })
    }
}

// MARK: Durations

extension ValueFormat<Duration> {
    /// A duration as Prometheus writes it: `500ms`, `30s`, `1m30s`, `1y2w3d`, or a bare `0`.
    public static func duration(from minimum: Duration = .zero, to maximum: Duration = .maximum) -> Self {
        let least = minimum > .zero ? ", at least \(minimum.prometheusText)" : ""
        let words = least + (maximum < .maximum ? ", at most \(maximum.prometheusText)" : "")
        return Self(
            "DURATION",
            expected: { refused in
                let hasNoUnit = !refused.isEmpty && refused.utf8.allSatisfy(isDigit)
                let hint = hasNoUnit ? " (\(refused) has no unit: \(refused)s?)" : ""
                return "a duration such as 500ms, 30s or 1m30s" + words + hint
            },
            text: \.shortText,
            parse: { text in
                Duration(prometheusText: text).flatMap { (minimum...maximum).contains($0) ? $0 : nil }
            })
    }
}

extension Duration {
    /// As people write a setting: `0`, `60s` rather than `1m`, `90s` rather than `1m30s`.
    fileprivate var shortText: String {
        if self == .zero { return "0" }
        return self < .seconds(100) && milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : prometheusText
    }
}
