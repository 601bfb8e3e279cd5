internal import Bytes
internal import JSON

enum FeedTime: Equatable {
    case at(Timestamp)
    /// A time without a zone, when no zone is configured either.
    case withoutZone

    /// Parses an epoch time, or RFC 3339 text that may lack its zone and the parts that ``completed(_:zone:)`` adds.
    ///
    /// - Parameter zone: offset of text without a zone, in milliseconds east of UTC; `nil` if unknown.
    static func parse(_ text: Span<UInt8>, zone: Int64?) -> FeedTime? {
        let text = text.extracting(CityName.trimmed(text, in: text.indices))
        if let number = jsonNumber(text) { return FeedTime(epoch: number) }
        if let time = parseRFC3339(text) { return .at(time) }
        guard text.count <= 64 else { return nil }
        var local = rearranged((0..<text.count).map { text[$0] })[...]
        var givenZone: [UInt8] = []
        if [" UTC", " GMT"].contains(where: { local.suffix(4).elementsEqual($0.utf8) }) {
            local.removeLast(4)
            givenZone = Array("Z".utf8)
        } else if let start = local.indices.dropFirst(10).first(where: { "+-Zz".utf8.contains(local[$0]) }) {
            // The search starts after the date, which has hyphens of its own.
            givenZone = Array(local[start...])
            local = local[..<start]
        }
        guard let time = parseRFC3339(completed(local, zone: givenZone).span) else { return nil }
        if !givenZone.isEmpty { return .at(time) }
        return zone.map { .at(time - $0) } ?? .withoutZone
    }

    /// Returns the parts of other usual forms in the order of RFC 3339: the day first (`28-11-2026 22:43`, dots too),
    /// which two digits, two and four cannot be mistaken for; RFC 1123 (`Sat, 28 Nov 2026 20:20:59 GMT`); a comma
    /// before the fraction; a zone's name in brackets after the offset (RFC 9557). Any other text stays as it is.
    private static func rearranged(_ text: [UInt8]) -> [UInt8] {
        var text = text
        if text.last == UInt8(ascii: "]"), let start = text.lastIndex(of: UInt8(ascii: "[")) {
            text.removeSubrange(start...)
        }
        let isDayFirst = [2, 5].allSatisfy { text.count > 10 && "-.".utf8.contains(text[$0]) } && text[2] == text[5]
        if isDayFirst, [0, 1, 3, 4, 6, 7, 8, 9].allSatisfy({ isDigit(text[$0]) }) {
            return joined([text[6..<10], text[3..<5], text[0..<2]], by: "-") + text[10...]
        }
        let words = text.split(separator: UInt8(ascii: " ")).map(Array.init)
        if words.count == 6, words[0].count == 4, words[0].last == UInt8(ascii: ","), (1...2).contains(words[1].count),
            let month = months.firstIndex(where: { $0.utf8.elementsEqual(words[2]) })
        {
            let day = words[1].count == 1 ? Array("0".utf8) + words[1] : words[1]
            let number = Array("\(month < 9 ? "0" : "")\(month + 1)".utf8)
            let date = joined([words[3][...], number[...], day[...]], by: "-")
            return joined([date[...], words[4][...], words[5][...]], by: " ")
        }
        if text.count > 20, text[19] == UInt8(ascii: ",") { text[19] = UInt8(ascii: ".") }
        return text
    }

    private static func joined(_ parts: [ArraySlice<UInt8>], by separator: Unicode.Scalar) -> [UInt8] {
        Array(parts.joined(separator: [UInt8(ascii: separator)]))
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns the text with the parts that feeds omit: `-` and `:` of `20261125T190000`, the seconds, the minutes or
    /// colon of an offset, and `Z` for UTC. Removes spaces before the offset.
    private static func completed(_ local: ArraySlice<UInt8>, zone: [UInt8]) -> [UInt8] {
        var local = Array(local)
        while local.last == UInt8(ascii: " ") { local.removeLast() }
        if local.count == 15, local[8] == UInt8(ascii: "T") {
            for index in [13, 11] { local.insert(UInt8(ascii: ":"), at: index) }
            for index in [6, 4] { local.insert(UInt8(ascii: "-"), at: index) }
        }
        if local.count == "2026-11-25T19:00".utf8.count { local += ":00".utf8 }
        var zone = zone.isEmpty ? Array("Z".utf8) : zone
        if zone.count == "+05".utf8.count { zone += ":00".utf8 }
        if zone.count == "+0530".utf8.count { zone.insert(UInt8(ascii: ":"), at: 3) }
        return local + zone
    }

    /// Takes numbers below 10¹¹ as epoch seconds, below 10¹⁴ as milliseconds and below 10¹⁷ as microseconds.
    init?(epoch number: Double) {
        guard number >= 0, number < 1e17 else { return nil }
        switch number {
        case ..<1e11: self = .at(Timestamp((number * 1000).rounded()))
        case ..<1e14: self = .at(Timestamp(number.rounded()))
        default: self = .at(Timestamp((number / 1000).rounded()))
        }
    }
}
