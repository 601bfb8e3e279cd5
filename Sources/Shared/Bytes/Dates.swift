/// A day of the Gregorian calendar.
package struct CivilDate: Sendable, Equatable {
    package var year, month, day: Int64

    /// A day of the calendar, `nil` when there is no such day.
    package init?(year: Int64, month: Int64, day: Int64) {
        guard (1...12).contains(month), (1...Self.daysIn(month: month, year: year)).contains(day) else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    // Both ways count years from March, so that the leap day is a year's last; an era has 400 years.

    package init(daysSinceEpoch days: Int64) {
        let (era, dayOfEra) = flooredDivision(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Since 1970-01-01.
    package var daysSinceEpoch: Int64 {
        let (era, yearOfEra) = flooredDivision(month > 2 ? year : year - 1, by: 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func daysIn(month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// Rounded towards minus infinity, so that the remainder is never negative. The divisor is positive.
package func flooredDivision(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}

// MARK: RFC 3339

extension [UInt8] {
    /// Appends milliseconds since the Unix epoch as `2026-11-21T04:49:45.252Z`; years 0 … 9999.
    package mutating func appendRFC3339(_ time: Int64) {
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

    /// Appends exactly `count` decimal digits, leading zeros included, and a character.
    private mutating func appendDigits(_ number: Int64, count: Int, before character: Unicode.Scalar) {
        let start = self.count
        appendInteger(UInt64(number))
        insert(contentsOf: repeatElement(UInt8(ascii: "0"), count: start + count - self.count), at: start)
        append(UInt8(ascii: character))
    }
}

/// Milliseconds since the Unix epoch of RFC 3339 text (section 5.6), such as `2026-11-21T04:49:45.252Z` or
/// `2026-11-21T10:19:45+05:30`; `nil` for anything else.
///
/// A leap second counts as the second behind it; digits behind the milliseconds are cut off.
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

extension Duration {
    /// Whole milliseconds of a duration that is not negative; the largest number where they do not fit.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1000)
        return isTooLarge ? .max : product + attoseconds / 1_000_000_000_000_000
    }
}
