/// A day of the Gregorian calendar.
package struct CivilDate: Sendable, Equatable {
    package var year, month, day: Int64

    /// `nil` if the calendar has no such day.
    package init?(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
        guard 1...12 ~= month, CivilDate(daysSinceEpoch: daysSinceEpoch) == self else { return nil }
    }

    // Both conversions count years from March, so that a leap day ends its year; an era has 400 years.

    package init(daysSinceEpoch days: Int64) {
        let (era, dayOfEra) = flooredDivision(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    package var daysSinceEpoch: Int64 {
        let (era, yearOfEra) = flooredDivision(month > 2 ? year : year - 1, by: 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

/// Divides rounding towards minus infinity, so that the remainder is never negative. The divisor must be positive.
package func flooredDivision(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}
