internal import Bytes
internal import System
internal import YAML

/// Values as programs in Go take them, for which the schema's files were written.
extension YAMLField {
    /// A fraction is cut off.
    func integer() throws(SystemError) -> Int64 {
        let expected = "a whole number"
        return switch try scalar(expected: expected) {
        case .number(let value): try whole(value, expected: expected)
        case .null: 0
        default: throw wrong(expected: expected)
        }
    }

    /// Nanoseconds; a number without a unit counts them too.
    func duration() throws(SystemError) -> Int64 {
        let expected = "a duration such as 500ms, 30s or 1m30s"
        switch try scalar(expected: expected) {
        case .number(let value): return try whole(value, expected: expected)
        case .null: return 0
        default:
            guard let nanoseconds = try parseGoDuration(text()) else { throw wrong(expected: expected) }
            return nanoseconds
        }
    }

    private func whole(_ value: Double, expected: String) throws(SystemError) -> Int64 {
        guard value < 0x1p63 else { throw wrong(expected: expected) }
        return Int64(max(value, -0x1p63))
    }
}

/// The nanoseconds of a duration as Go's `time.ParseDuration` reads it, `1m30s` or `-1.5h` or `0`; `nil` when it is
/// none or longer than 64 bits of nanoseconds.
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
