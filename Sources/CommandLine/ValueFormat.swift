internal import Bytes

/// How the text of a flag's value is read.
public struct ValueFormat<Value: Sendable>: Sendable {
    /// Completes an error: "expected …".
    public let expected: String
    /// Nil for text that is not in the format.
    public let parse: @Sendable (String) -> Value?

    public init(expected: String, parse: @escaping @Sendable (String) -> Value?) {
        self.expected = expected
        self.parse = parse
    }
}

extension ValueFormat<String> {
    /// Any text, none as well.
    public static var text: Self { Self(expected: "text") { $0 } }

    public static var nonEmptyText: Self { Self(expected: "text that is not empty") { $0.isEmpty ? nil : $0 } }
}

extension ValueFormat<Bool> {
    public static var boolean: Self {
        Self(expected: "true or false") { text in
            switch text {
            case "true": true
            case "false": false
            default: nil
            }
        }
    }
}

extension ValueFormat<Int> {
    /// A whole number in decimal digits.
    public static func integer(in range: ClosedRange<Int> = .min ... .max) -> Self {
        Self(expected: "a whole number" + words(for: range, in: "")) { text in
            guard let number = signedNumber(text), range.contains(number) else { return nil }
            return number
        }
    }

    /// A number of bytes, or of `KiB`, `MiB` or `GiB`.
    public static func bytes(in range: ClosedRange<Int> = 0 ... .max) -> Self {
        Self(expected: "a size in bytes, or with KiB, MiB or GiB" + words(for: range, in: " bytes")) { text in
            let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)]
            let unit = units.first { text.hasSuffix($0.0) }
            guard let count = decimalNumber(text.utf8.dropLast(unit?.0.utf8.count ?? 0)) else { return nil }
            let (bytes, isTooLarge) = count.multipliedReportingOverflow(by: unit?.1 ?? 1)
            return isTooLarge || !range.contains(bytes) ? nil : bytes
        }
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
        Self(expected: "a whole number, 0 to \(UInt64.max)") { text in
            decimalNumber(text.utf8, as: UInt64.self)
        }
    }
}

extension ValueFormat<Double> {
    /// A finite number in decimal notation, with an exponent or without.
    public static func number(in range: ClosedRange<Double>) -> Self {
        let isOpenAbove = range.upperBound == .greatestFiniteMagnitude
        let words = isOpenAbove ? "\(range.lowerBound) or more" : "\(range.lowerBound) to \(range.upperBound)"
        return Self(expected: "a number, " + words) { text in
            // `Double("0x10")`, `Double("nan")` and `Double("inf")` are numbers to Swift.
            guard text.utf8.allSatisfy({ "0123456789.eE+-".utf8.contains($0) }) else { return nil }
            guard let number = Double(text), range.contains(number) else { return nil }
            return number
        }
    }
}

extension ValueFormat where Value: CaseIterable & RawRepresentable<String> {
    /// One of the names of a closed set.
    public static var choice: Self {
        Self(expected: Value.allCases.map(\.rawValue).joined(separator: ", or ")) { Value(rawValue: $0) }
    }
}

extension ValueFormat<Shard> {
    public static var shard: Self {
        Self(expected: "i/n, shard i of n, with i from 0 to n-1, for example 0/4") { text in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let index = decimalNumber(parts[0].utf8), let count = decimalNumber(parts[1].utf8)
            else {
                return nil
            }
            return index < count ? Shard(index: index, count: count) : nil
        }
    }
}

/// One part of several into which work is split: `index` is 0 ..< `count`.
public struct Shard: Sendable, Equatable {
    public let index: Int
    public let count: Int
}

private func signedNumber(_ text: String) -> Int? {
    guard text.hasPrefix("-") else { return decimalNumber(text.utf8) }
    return text.dropFirst().utf8.allSatisfy(isDigit) ? Int(text) : nil
}
