internal import Bytes

/// A coordinate with four decimals, eleven metres: `28.6139`.
func degrees(_ value: Double) -> String {
    let units = Int((abs(value) * 10_000).rounded())
    let fraction = String(units % 10_000)
    let zeros = String(repeating: "0", count: 4 - fraction.count)
    return (value < 0 && units > 0 ? "-" : "") + "\(units / 10_000).\(zeros)\(fraction)"
}

/// Seconds since the Unix epoch of RFC 3339 text.
func epochSeconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    return parseRFC3339(bytes.span).map { $0 / 1000 }
}

/// Seconds since the Unix epoch of `21-07-2026 19:00:00` in Indian time, as data.gov.in writes it.
func epochSeconds(indian text: String) -> Int64? {
    let bytes = Array(trimmed(Array(text.utf8)[...]))
    let separators = [2: "-", 5: "-", 10: " ", 13: ":", 16: ":"].mapValues { $0.utf8.first }
    guard bytes.count == 19, separators.allSatisfy({ bytes[$0] == $1 }) else { return nil }
    func number(_ range: Range<Int>) -> Int64? { decimalNumber(bytes[range]) }
    guard let day = number(0..<2), let month = number(3..<5), let year = number(6..<10), let hour = number(11..<13),
        let minute = number(14..<16), let second = number(17..<19), hour < 24, minute < 60, second <= 60,
        let date = CivilDate(year: year, month: month, day: day)
    else { return nil }
    return date.daysSinceEpoch * 86_400 + hour * 3600 + minute * 60 + second - 19_800
}

/// `2026-07-21T19:00:00.000Z`.
func rfc3339(_ epochSeconds: Int64) -> String {
    var text: [UInt8] = []
    text.appendRFC3339(epochSeconds * 1000)
    return String(decoding: text, as: UTF8.self)
}

/// The text with `***` in place of a key, whose bytes may be percent-encoded: a source may repeat what it was sent.
public func masked(_ text: String, key: String?) -> String {
    guard let key = key.map({ Array($0.utf8) }), !key.isEmpty else { return text }
    let bytes = Array(text.utf8)
    var shown: [UInt8] = []
    var place = 0
    while place < bytes.count {
        if let end = end(of: key, in: bytes, at: place) {
            shown += "***".utf8
            place = end
        } else {
            shown.append(bytes[place])
            place += 1
        }
    }
    return String(decoding: shown, as: UTF8.self)
}

private func end(of key: [UInt8], in bytes: [UInt8], at start: Int) -> Int? {
    var place = start
    for byte in key {
        guard place < bytes.count else { return nil }
        let encoded = bytes[place...].prefix(3)
        if encoded.count == 3, encoded.first == UInt8(ascii: "%"),
            UInt8(String(decoding: encoded.dropFirst(), as: UTF8.self), radix: 16) == byte
        {
            place += 3
        } else if bytes[place] == byte {
            place += 1
        } else {
            return nil
        }
    }
    return place
}
