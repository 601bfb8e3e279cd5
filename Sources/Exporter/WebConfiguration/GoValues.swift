internal import Bytes

/// What a YAML scalar is to a Go program that decodes it with yaml.v2, for which the schema's files were written: `yes`
/// is a boolean, and `1:30` is text.
///
/// Numbers with underscores, in octal or in binary are left out: nobody writes them here, and `010` is refused rather
/// than taken for ten or for eight.
enum GoScalar: Equatable {
    case null
    case boolean(Bool)
    case number(Double)
    case text

    /// Nil when the tag wants something else than the text is.
    init?(_ scalar: YAMLNode.Scalar) {
        let plain = Self(plain: scalar.text)
        switch (scalar.tag, plain) {
        case (nil, _): self = scalar.isPlain ? plain : .text
        case ("tag:yaml.org,2002:null", .null), ("tag:yaml.org,2002:bool", .boolean),
            ("tag:yaml.org,2002:int", .number), ("tag:yaml.org,2002:float", .number):
            self = plain
        case ("tag:yaml.org,2002:null", _), ("tag:yaml.org,2002:bool", _), ("tag:yaml.org,2002:int", _),
            ("tag:yaml.org,2002:float", _), ("tag:yaml.org,2002:timestamp", _):
            return nil
        default: self = .text
        }
    }

    private init(plain text: String) {
        switch text {
        case "", "~", "null", "Null", "NULL": self = .null
        case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON": self = .boolean(true)
        case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF": self = .boolean(false)
        default: self = Self.number(text.utf8).map(GoScalar.number) ?? .text
        }
    }

    private static func number(_ text: String.UTF8View) -> Double? {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative || text.first == UInt8(ascii: "+") ? text.dropFirst() : text[...]
        let magnitude: Double? =
            if digits.starts(with: "0x".utf8), digits.dropFirst(2).allSatisfy({ hexDigit($0) != nil }) {
                UInt64(Substring(digits.dropFirst(2)), radix: 16).map { Double($0) }
            } else if digits.count > 1, digits.starts(with: "0".utf8), isDigit(digits.dropFirst().first!) {
                nil
            } else if let first = digits.first, isDigit(first) || first == UInt8(ascii: "."),
                digits.allSatisfy({ isDigit($0) || "+-.eE".utf8.contains($0) })
            {
                Double(Substring(digits))
            } else {
                nil
            }
        guard let magnitude, magnitude.isFinite else { return nil }
        return isNegative ? -magnitude : magnitude
    }
}

/// The nanoseconds of a duration as Go's `time.ParseDuration` reads it, `1m30s` or `-1.5h` or `0`; nil when it is none
/// or longer than 64 bits of nanoseconds.
func parseGoDuration(_ text: String) -> Int64? {
    let isNegative = text.hasPrefix("-")
    var rest = text.utf8[...]
    if isNegative || text.hasPrefix("+") { rest = rest.dropFirst() }
    if rest.elementsEqual("0".utf8) { return 0 }
    guard !rest.isEmpty else { return nil }
    var total: Int128 = 0
    while !rest.isEmpty {
        let amount = rest.prefix { isDigit($0) || $0 == UInt8(ascii: ".") }
        rest = rest.dropFirst(amount.count)
        let name = rest.prefix { $0 != UInt8(ascii: ".") && !isDigit($0) }
        rest = rest.dropFirst(name.count)
        let parts = amount.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let unit = unitNanoseconds[String(Substring(name))], parts.count <= 2, amount.contains(where: isDigit),
            let whole: Int64 = parts[0].isEmpty ? 0 : decimalNumber(parts[0])
        else { return nil }
        total += Int128(whole) * Int128(unit)
        if parts.count == 2, let fraction = Double("0." + String(Substring(parts[1])) + "0") {
            total += Int128(fraction * Double(unit))
        }
    }
    return Int64(exactly: isNegative ? -total : total)
}

private let unitNanoseconds: [String: Int64] = [
    "ns": 1, "us": 1000, "\u{B5}s": 1000, "\u{3BC}s": 1000, "ms": 1_000_000, "s": 1_000_000_000,
    "m": 60_000_000_000, "h": 3_600_000_000_000,
]
