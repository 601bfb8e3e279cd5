extension [UInt8] {
    /// Appends milliseconds since the Unix epoch as `2026-11-21T04:49:45.252Z`, clamped to the years 0 … 9999.
    package mutating func appendRFC3339(_ time: Int64) {
        let time = Swift.min(Swift.max(time, -62_167_219_200_000), 253_402_300_799_999)
        let (days, millisecondOfDay) = flooredDivision(time, by: 86_400_000)
        let date = CivilDate(daysSinceEpoch: days)
        let second = millisecondOfDay / 1000
        appendDigits(date.year, count: 4, before: "-")
        appendDigits(date.month, count: 2, before: "-")
        appendDigits(date.day, count: 2, before: "T")
        appendDigits(second / 3600, count: 2, before: ":")
        appendDigits(second / 60 % 60, count: 2, before: ":")
        appendDigits(second % 60, count: 2, before: ".")
        appendDigits(millisecondOfDay % 1000, count: 3, before: "Z")
    }

    /// Appends exactly `count` digits, zero-padded, and a character.
    private mutating func appendDigits(_ number: Int64, count: Int, before character: Unicode.Scalar) {
        let start = self.count
        appendInteger(UInt64(number))
        insert(contentsOf: repeatElement(UInt8(ascii: "0"), count: start + count - self.count), at: start)
        append(UInt8(ascii: character))
    }
}

/// Parses RFC 3339 text (section 5.6), such as `2026-11-21T10:19:45.252+05:30`, as milliseconds since the Unix epoch.
/// A leap second counts as the following second; digits beyond milliseconds are truncated.
package func parseRFC3339(_ text: Span<UInt8>) -> Int64? {
    var cursor = 0
    func digit(_ index: Int) -> Int64? {
        index < text.count && isDigit(text[index]) ? Int64(text[index] - UInt8(ascii: "0")) : nil
    }
    func number(_ count: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<count {
            guard let digit = digit(cursor) else { return nil }
            value = value * 10 + digit
            cursor += 1
        }
        return value
    }
    func skip(_ characters: StaticString) -> Bool {
        guard cursor < text.count, characters.description.utf8.contains(text[cursor]) else { return false }
        cursor += 1
        return true
    }
    guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
        let date = CivilDate(year: year, month: month, day: day), skip("Tt "), let hour = number(2), skip(":"),
        let minute = number(2), skip(":"), let second = number(2), hour < 24, minute < 60, second <= 60
    else { return nil }
    var milliseconds: Int64 = 0
    if skip(".") {
        guard digit(cursor) != nil else { return nil }
        var weight: Int64 = 100
        while let digit = digit(cursor) {
            milliseconds += digit * weight
            weight /= 10
            cursor += 1
        }
    }
    var offset: Int64 = 0
    if !skip("Zz") {
        guard cursor < text.count else { return nil }
        let isNegative = text[cursor] == UInt8(ascii: "-")
        guard skip("+-"), let hours = number(2), skip(":"), let minutes = number(2), hours < 24, minutes < 60
        else { return nil }
        offset = (hours * 60 + minutes) * (isNegative ? -1 : 1)
    }
    guard cursor == text.count else { return nil }
    let minutes = (date.daysSinceEpoch * 24 + hour) * 60 + minute - offset
    return (minutes * 60 + second) * 1000 + milliseconds
}
