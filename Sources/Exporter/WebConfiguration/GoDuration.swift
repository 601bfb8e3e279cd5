/// Returns the nanoseconds of a duration in the syntax of Go's `time.ParseDuration`, such as `1m30s`, `1.5h` or `0`;
/// `nil` if it is malformed, has a sign or exceeds 64 bits.
func parseGoDuration(_ text: String) -> Int64? {
    if text == "0" { return 0 }
    var rest = text[...]
    var total = 0.0
    repeat {
        let amount = rest.prefix { "0123456789.".contains($0) }
        rest = rest.dropFirst(amount.count)
        let unit = rest.prefix { !"0123456789.".contains($0) }
        rest = rest.dropFirst(unit.count)
        guard let number = Double(amount), let nanoseconds = unitNanoseconds[String(unit)] else { return nil }
        total += number * nanoseconds
    } while !rest.isEmpty
    return total < 0x1p63 ? Int64(total) : nil
}

private let unitNanoseconds: [String: Double] = [
    "ns": 1, "us": 1000, "\u{B5}s": 1000, "\u{3BC}s": 1000, "ms": 1_000_000, "s": 1_000_000_000,
    "m": 60_000_000_000, "h": 3_600_000_000_000,
]
