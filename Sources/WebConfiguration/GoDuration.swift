internal import Bytes

/// The nanoseconds of a duration as Go's `time.ParseDuration` reads it, `1m30s` or `-1.5h` or `0`; nil when it is none
/// or longer than 64 bits of nanoseconds.
func parseGoDuration(_ text: String) -> Int64? {
    var rest = Array(text.utf8)[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
    if rest.elementsEqual("0".utf8) { return 0 }
    guard !rest.isEmpty else { return nil }
    var total: UInt64 = 0
    while !rest.isEmpty {
        let whole = takeDigits(from: &rest)
        var fraction: ArraySlice<UInt8> = []
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            fraction = takeDigits(from: &rest)
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        let name = rest.prefix { $0 != UInt8(ascii: ".") && !isDigit($0) }
        rest = rest.dropFirst(name.count)
        guard let unit = unitNanoseconds[String(decoding: name, as: UTF8.self)],
            let amount = whole.isEmpty ? 0 : UInt64(String(decoding: whole, as: UTF8.self))
        else { return nil }
        let (product, tooLong) = amount.multipliedReportingOverflow(by: unit)
        // Go's limit is one more than the largest positive duration, for the sake of the smallest negative one.
        guard !tooLong, product <= Int64.min.magnitude else { return nil }
        let part = fraction.isEmpty ? 0 : (Double("0." + String(decoding: fraction, as: UTF8.self)) ?? 0) * Double(unit)
        // Each is at most 2⁶³, so that both together may be one too many for 64 bits.
        let sum = (product + UInt64(part)).addingReportingOverflow(total)
        guard !sum.overflow, sum.partialValue <= Int64.min.magnitude else { return nil }
        total = sum.partialValue
    }
    if isNegative { return Int64(truncatingIfNeeded: 0 &- total) }
    return Int64(exactly: total)
}

private let unitNanoseconds: [String: UInt64] = [
    "ns": 1, "us": 1000, "\u{B5}s": 1000, "\u{3BC}s": 1000, "ms": 1_000_000, "s": 1_000_000_000,
    "m": 60_000_000_000, "h": 3_600_000_000_000,
]

private func takeDigits(from text: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = text.prefix(while: isDigit)
    text = text.dropFirst(digits.count)
    return digits
}
