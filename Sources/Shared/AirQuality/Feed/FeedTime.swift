internal import Bytes
internal import JSON

/// The time that a reading names.
enum FeedTime: Equatable {
    case at(Timestamp)
    /// A text without a zone, which nobody has told.
    case withoutZone

    /// Reads RFC 3339 text, whose offset may lack its colon, or be missing; or the digits of an epoch.
    ///
    /// - Parameter zone: milliseconds east of UTC of a text that names no zone; `nil` = unknown.
    /// - Returns: `nil` when the text is no time.
    init?(_ text: Span<UInt8>, zone: Int64?) {
        let text = text.extracting(CityName.trimmed(text, in: text.indices))
        if let number = jsonNumber(text) {
            self.init(epoch: number)
            return
        }
        if let time = parseRFC3339(text) {
            self = .at(time)
            return
        }
        var bytes = (0..<text.count).map { text[$0] }
        if bytes.count > 5, bytes.suffix(4).allSatisfy(isDigit), "+-".utf8.contains(bytes[bytes.count - 5]) {
            bytes.insert(UInt8(ascii: ":"), at: bytes.count - 2)
            guard let time = parseRFC3339(bytes.span) else { return nil }
            self = .at(time)
            return
        }
        bytes.append(UInt8(ascii: "Z"))
        guard let time = parseRFC3339(bytes.span) else { return nil }
        self = zone.map { .at(time - $0) } ?? .withoutZone
    }

    /// Epoch seconds (below 10¹¹) or milliseconds.
    init?(epoch number: Double) {
        guard number >= 0, number < 1e15 else { return nil }
        self = .at(Timestamp((number < 1e11 ? number * 1000 : number).rounded()))
    }
}
