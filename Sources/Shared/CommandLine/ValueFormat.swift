internal import Bytes
public import System

/// The parser and printer of a flag's value.
public struct ValueFormat<Value: Sendable>: Sendable {
    /// Placeholder of the value in `--help`; `FILE` for a path, which the shell completes.
    let placeholder: String
    /// Returns the value of a text.
    public let read: @Sendable (String) throws(RejectedText) -> Value
    /// Formats a default as a user would write it; `nil` to show no default.
    let text: (@Sendable (Value) -> String)?
    /// All valid values of an enumeration; otherwise empty.
    let choices: [String]

    public init(
        _ placeholder: String, text: (@Sendable (Value) -> String)? = nil, choices: [String] = [],
        read: @escaping @Sendable (String) throws(RejectedText) -> Value
    ) {
        self.placeholder = placeholder
        self.text = text
        self.choices = choices
        self.read = read
    }

    /// - Parameter parse: returns `nil` to reject the text, which the error then compares with `expected`.
    public init(
        _ placeholder: String, expected: String, text: (@Sendable (Value) -> String)? = nil, choices: [String] = [],
        parse: @escaping @Sendable (String) -> Value?
    ) {
        self.init(placeholder, text: text, choices: choices) { text throws(RejectedText) in
            guard let value = parse(text) else { throw RejectedText(text, expected: expected) }
            return value
        }
    }

    public func parse(_ text: String) -> Value? { try? read(text) }

    /// One of a closed set of values, case-insensitive.
    public static func one(of values: [Value], named name: @escaping @Sendable (Value) -> String) -> Self {
        let names = values.map(name)
        return Self("NAME", expected: list(of: names), text: name, choices: names) { text in
            values.first { name($0).lowercased() == text.lowercased() }
        }
    }
}

/// Joins names for a sentence: `india, us or eu`.
public func list(of names: [String]) -> String {
    (names.count > 1 ? names.dropLast().joined(separator: ", ") + " or " : "") + (names.last ?? "")
}

extension ValueFormat where Value: CaseIterable & RawRepresentable<String> {
    /// One of the raw values, case-insensitive.
    public static var choice: Self { one(of: Array(Value.allCases), named: \.rawValue) }
}

extension ValueFormat<Bool> {
    static var boolean: Self { one(of: [true, false], named: \.description) }
}

extension ValueFormat<String> {
    /// Any text, including empty text.
    public static var text: Self { Self("TEXT", expected: "text", text: \.self) { $0 } }

    /// The path of a file, which need not exist.
    public static var file: Self { Self("FILE", expected: "a file name") { $0.isEmpty ? nil : $0 } }
}

extension ValueFormat<ListenAddress> {
    public static var listenAddress: Self {
        Self("ADDRESS", expected: "host:port, [::1]:port, :port or unix:/path", text: \.description) {
            ListenAddress($0)
        }
    }
}

// MARK: Numbers

extension ValueFormat where Value: FixedWidthInteger {
    /// A whole number in decimal digits.
    public static func integer(in range: ClosedRange<Value>) -> Self {
        Self("NUMBER", expected: "a whole number, \(range.lowerBound) to \(range.upperBound)", text: \.description) {
            decimalNumber($0.utf8).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension ValueFormat<Int> {
    /// A size in bytes, `KiB`, `MiB` or `GiB`.
    public static func bytes(in range: ClosedRange<Int>) -> Self {
        let units: [(name: String, bytes: Int)] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("", 1)]
        let bounds = "\(range.lowerBound) to \(range.upperBound) bytes"
        return Self(
            "SIZE", expected: "a size in bytes, or with KiB, MiB or GiB, " + bounds,
            text: { bytes in
                let unit = units.first { bytes >= $0.bytes && bytes % $0.bytes == 0 }
                return unit.map { "\(bytes / $0.bytes)\($0.name)" } ?? "0"
            },
            parse: { text in
                guard let unit = units.first(where: { text.hasSuffix($0.name) }),
                    let count: Int = decimalNumber(text.utf8.dropLast(unit.name.utf8.count))
                else { return nil }
                let (bytes, isTooLarge) = count.multipliedReportingOverflow(by: unit.bytes)
                return isTooLarge || !range.contains(bytes) ? nil : bytes
            })
    }
}

extension ValueFormat<Double> {
    /// A finite number in decimal notation, optionally with an exponent.
    public static func number(in range: ClosedRange<Double>) -> Self {
        Self(
            "NUMBER", expected: "a number, \(range.lowerBound) to \(range.upperBound)",
            text: { $0 == $0.rounded() ? "\(Int($0))" : "\($0)" },
            parse: { text in
                // `Double.init` also accepts "0x10", "nan" and "inf".
                guard text.utf8.allSatisfy({ "0123456789.eE+-".utf8.contains($0) }) else { return nil }
                return Double(text).flatMap { range.contains($0) ? $0 : nil }
            })
    }
}

// MARK: Durations

extension ValueFormat<Duration> {
    /// A duration in Prometheus syntax: `500ms`, `30s`, `1m30s`, `1y2w3d`, or a bare `0`.
    public static func duration(from minimum: Duration = .zero) -> Self {
        let least = minimum > .zero ? ", at least \(minimum.prometheusText)" : ""
        return Self(
            "DURATION", text: { $0 == .zero ? "0" : $0.prometheusText },
            read: { text throws(RejectedText) in
                if let duration = Duration(prometheusText: text), duration >= minimum { return duration }
                let hasNoUnit = !text.isEmpty && text.utf8.allSatisfy(isDigit) && text != "0"
                let hint = hasNoUnit ? " (\(text) has no unit: \(text)s?)" : ""
                throw RejectedText(text, expected: "a duration such as 500ms, 30s or 1m30s" + least + hint)
            })
    }

    /// A duration of at least 1 ms.
    public static var timeout: Self { duration(from: .milliseconds(1)) }
}
