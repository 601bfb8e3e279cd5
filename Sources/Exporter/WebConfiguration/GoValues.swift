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
    var rest = text[...]
    if text.hasPrefix("-") || text.hasPrefix("+") { rest.removeFirst() }
    if rest == "0" { return 0 }
    var total = 0.0
    repeat {
        let amount = rest.prefix { "0123456789.".contains($0) }
        rest = rest.dropFirst(amount.count)
        let unit = rest.prefix { !"0123456789.".contains($0) }
        rest = rest.dropFirst(unit.count)
        guard let number = Double(amount), let nanoseconds = unitNanoseconds[String(unit)] else { return nil }
        total += number * nanoseconds
    } while !rest.isEmpty
    guard total < 0x1p63 else { return nil }
    return Int64(text.hasPrefix("-") ? -total : total)
}

private let unitNanoseconds: [String: Double] = [
    "ns": 1, "us": 1000, "\u{B5}s": 1000, "\u{3BC}s": 1000, "ms": 1_000_000, "s": 1_000_000_000,
    "m": 60_000_000_000, "h": 3_600_000_000_000,
]
