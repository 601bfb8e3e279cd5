internal import Bytes

/// Percent-encodes all but the unreserved characters (RFC 3986, section 2.3), and those named.
func percentEncoded(_ text: String, keeping kept: String = "") -> String {
    var encoded = ""
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            encoded.append(Character(UnicodeScalar(byte)))
        case let byte where kept.utf8.contains(byte): encoded.append(Character(UnicodeScalar(byte)))
        default: encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
    }
    return encoded
}

/// A coordinate with four decimals, eleven metres: `28.6139`.
func degrees(_ value: Double) -> String {
    let units = Int((abs(value) * 10_000).rounded())
    let fraction = String(units % 10_000)
    let zeros = String(repeating: "0", count: 4 - fraction.count)
    return (value < 0 && units > 0 ? "-" : "") + "\(units / 10_000).\(zeros)\(fraction)"
}

/// Seconds since the Unix epoch of `2026-07-21T19:00`, with seconds, fractions and a zone or without: `Z`, `+05:30`.
/// - Parameter zone: seconds east of Greenwich when the text names none; nil = it has to.
func epochSeconds(iso text: String, zone: Int64? = nil) -> Int64? {
    var digits = DigitReader(text)
    guard let year = digits.number(4), digits.skip("-"), let month = digits.number(2), digits.skip("-"),
        let day = digits.number(2), digits.skip("T") || digits.skip(" "), let hour = digits.number(2), digits.skip(":"),
        let minute = digits.number(2)
    else { return nil }
    var second: Int64 = 0
    if digits.skip(":") {
        guard let number = digits.number(2) else { return nil }
        second = number
        if digits.skip(".") {
            guard digits.number(1) != nil else { return nil }
            while digits.number(1) != nil {}
        }
    }
    var offset = zone
    if digits.skip("Z") {
        offset = 0
    } else if !digits.isAtEnd {
        let isEast = digits.skip("+")
        guard isEast || digits.skip("-"), let hours = digits.number(2), digits.skip(":"),
            let minutes = digits.number(2), hours < 24, minutes < 60
        else { return nil }
        offset = (hours * 60 + minutes) * (isEast ? 60 : -60)
    }
    guard let offset, digits.isAtEnd else { return nil }
    return epochSeconds(year, month, day, hour, minute, second).map { $0 - offset }
}

/// The same of `21-07-2026 19:00:00` in Indian time, as data.gov.in writes it.
func epochSeconds(indian text: String) -> Int64? {
    var digits = DigitReader(text)
    guard let day = digits.number(2), digits.skip("-"), let month = digits.number(2), digits.skip("-"),
        let year = digits.number(4), digits.skip(" "), let hour = digits.number(2), digits.skip(":"),
        let minute = digits.number(2), digits.skip(":"), let second = digits.number(2), digits.isAtEnd
    else { return nil }
    return epochSeconds(year, month, day, hour, minute, second).map { $0 - 19_800 }
}

/// `2026-07-21T19:00:00Z`.
func isoText(_ epochSeconds: Int64) -> String {
    func digits(_ number: Int64) -> String { (number < 10 ? "0" : "") + "\(number)" }
    let (day, second) = (epochSeconds / 86_400, epochSeconds % 86_400)
    // Counted back to the first of March of the year 0, as `days` counts.
    let (era, dayOfEra) = ((day + 719_468) / 146_097, (day + 719_468) % 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let march = (5 * dayOfYear + 2) / 153
    let month = march < 10 ? march + 3 : march - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    let date = "\(year)-\(digits(month))-\(digits(dayOfYear - (153 * march + 2) / 5 + 1))"
    return date + "T\(digits(second / 3600)):\(digits(second / 60 % 60)):\(digits(second % 60))Z"
}

private func epochSeconds(
    _ year: Int64, _ month: Int64, _ day: Int64, _ hour: Int64, _ minute: Int64, _ second: Int64
) -> Int64? {
    guard (1...12).contains(month), hour < 24, minute < 60, second <= 60 else { return nil }
    let start = days(year: year, month: month, day: 1)
    let length = month == 12 ? 31 : days(year: year, month: month + 1, day: 1) - start
    guard (1...length).contains(day) else { return nil }
    return (start + day - 1) * 86_400 + hour * 3600 + minute * 60 + second
}

private struct DigitReader {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Exactly so many digits.
    mutating func number(_ count: Int) -> Int64? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy(isDigit) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }
}
