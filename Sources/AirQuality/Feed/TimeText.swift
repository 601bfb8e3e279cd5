/// Times of the feed's time member, and times as the history document writes them.
public enum TimeText {
    /// RFC 3339 text (section 5.6), such as `2026-11-21T04:49:45.252Z` or `2026-11-21T10:19:45+05:30`.
    ///
    /// A leap second counts as the second behind it; digits behind the milliseconds are cut off.
    static func parse(_ bytes: Span<UInt8>) -> Timestamp? {
        var cursor = 0
        func digit(_ index: Int) -> Int64? {
            guard index < bytes.count, bytes[index] &- UInt8(ascii: "0") < 10 else { return nil }
            return Int64(bytes[index] - UInt8(ascii: "0"))
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
            guard cursor < bytes.count, characters.description.utf8.contains(bytes[cursor]) else { return false }
            cursor += 1
            return true
        }
        guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
            skip("Tt "), let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2),
            (1...12).contains(month), (1...daysIn(month: month, year: year)).contains(day), hour < 24, minute < 60,
            second <= 60
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
            guard cursor < bytes.count else { return nil }
            let isNegative = bytes[cursor] == UInt8(ascii: "-")
            guard skip("+-"), let hours = number(2), skip(":"), let minutes = number(2), hours < 24, minutes < 60
            else { return nil }
            offset = (hours * 60 + minutes) * (isNegative ? -1 : 1)
        }
        guard cursor == bytes.count else { return nil }
        let minutes = (daysFromEpoch(year: year, month: month, day: day) * 24 + hour) * 60 + minute - offset
        return (minutes * 60 + second) * 1000 + milliseconds
    }

    /// Epoch seconds (below 10¹¹) or milliseconds.
    static func parse(_ number: Double) -> Timestamp? {
        guard number.isFinite, number >= 0, number < 1e15 else { return nil }
        return Timestamp((number < 1e11 ? number * 1000 : number).rounded())
    }

    /// Appends `2026-11-21T04:49:45.252Z`; years 0 … 9999.
    public static func append(_ time: Timestamp, to text: inout [UInt8]) {
        let (days, millisecondOfDay) = time.quotientAndRemainderFloored(dividingBy: 86_400_000)
        let (year, month, day) = date(daysFromEpoch: days)
        text.appendDigits(UInt64(year), count: 4)
        text.append(UInt8(ascii: "-"))
        text.appendDigits(UInt64(month), count: 2)
        text.append(UInt8(ascii: "-"))
        text.appendDigits(UInt64(day), count: 2)
        text.append(UInt8(ascii: "T"))
        let second = millisecondOfDay / 1000
        text.appendDigits(UInt64(second / 3600), count: 2)
        text.append(UInt8(ascii: ":"))
        text.appendDigits(UInt64(second / 60 % 60), count: 2)
        text.append(UInt8(ascii: ":"))
        text.appendDigits(UInt64(second % 60), count: 2)
        text.append(UInt8(ascii: "."))
        text.appendDigits(UInt64(millisecondOfDay % 1000), count: 3)
        text.append(UInt8(ascii: "Z"))
    }

    // MARK: The Gregorian calendar

    private static func isLeap(_ year: Int64) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    private static func daysIn(month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days since 1970-01-01. Counts years from March, so that the leap day is a year's last.
    private static func daysFromEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
        let marchYear = month > 2 ? year : year - 1
        let (era, yearOfEra) = marchYear.quotientAndRemainderFloored(dividingBy: 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func date(daysFromEpoch days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (days + 719_468).quotientAndRemainderFloored(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}

extension Int64 {
    /// Rounded towards minus infinity, so that the remainder is never negative. The divisor is positive.
    func quotientAndRemainderFloored(dividingBy divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
