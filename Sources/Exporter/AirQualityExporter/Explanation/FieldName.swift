import Bytes

/// The name of a field, with its meanings from the table in `field-names.txt`.
struct FieldName {
    enum Meaning: String {
        case index, air, standard, value, pollutant, quantity, number, parameter, otherTime
        case about, dominant, unit, place, text, topic, kind, structure, words
    }

    /// A word of the table, which may match any text before or after it.
    private struct Word {
        let meaning: Meaning
        let rank: Int
        let text: [UInt8]
        let isPrefix: Bool
        let isSuffix: Bool

        init(_ text: Substring, _ meaning: Meaning, rank: Int) {
            self.meaning = meaning
            self.rank = rank
            self.text = text.utf8.filter { $0 != UInt8(ascii: "*") }
            isPrefix = text.hasSuffix("*")
            isSuffix = text.hasPrefix("*")
        }

        func matches(_ name: [UInt8]) -> Bool {
            switch (isPrefix, isSuffix) {
            case (true, true): name.indices.contains { name[$0...].starts(with: text) }
            case (true, false): name.starts(with: text)
            case (false, true): name.suffix(text.count).elementsEqual(text)
            case (false, false): name == text
            }
        }
    }

    private static let table = String(decoding: PackageResources.field_names_txt, as: UTF8.self)
        .split(separator: "\n").flatMap { line -> [Word] in
            let words = line.split(separator: " ")
            let title = words[0].split(separator: ":")
            // Comments have no meaning.
            guard let meaning = Meaning(rawValue: String(title[0])) else { return [] }
            return words.dropFirst().map { Word($0, meaning, rank: Int(title.last ?? "") ?? 0) }
        }

    /// Only lower-case letters and digits: `AQI_US` becomes `aqius`. Empty for a name of more than 128 bytes.
    let plain: String
    /// The meanings, each with the rank of the first row that has the name.
    private(set) var ranks: [Meaning: Int] = [:]

    init(_ name: String) {
        plain = Self.plain(name)
        let bytes = Array(plain.utf8)
        for word in Self.table where ranks[word.meaning] == nil && word.matches(bytes) {
            ranks[word.meaning] = word.rank
        }
    }

    private static func plain(_ name: String) -> String {
        let scalars = name.utf8.count > 128 ? "".unicodeScalars : name.lowercased().unicodeScalars
        return String(scalars.filter { $0.properties.isAlphabetic || ("0"..."9").contains($0) })
    }

    func says(_ meanings: Meaning...) -> Bool { meanings.contains { ranks[$0] != nil } }

    // MARK: Values

    var isIndex: Bool { says(.index) && !says(.quantity, .number) }

    /// Whether a text says that a value beside it is an index: `"type": "aqi"`.
    static func saysIndex(_ text: String) -> Bool {
        let text = plain(text)
        guard text.count <= 24 else { return false }
        let words = table.lazy.filter { $0.meaning == .index && $0.isPrefix }
            .map { String(decoding: $0.text, as: UTF8.self) }
        guard let word = words.first(where: text.contains) else { return false }
        return text == word || FieldName(text.replacing(word, with: "", maxReplacements: 1)).says(.standard)
    }

    /// How strongly the names of the fields leading to a number, nearest first, suggest an index, up to 100; `nil` if
    /// it is something else. `isSigned` means that a text beside the number says so.
    static func indexScore(_ names: [FieldName], isSigned: Bool) -> Int? {
        guard let name = names.first else { return 5 }
        let outer = names.dropFirst().first
        // The US standard is the most common.
        let bonus = name.plain == "aqi" || name.plain.contains("us") ? 2 : 0
        if name.isIndex { return 98 + bonus }
        // The sub-index of a pollutant.
        if name.says(.index), name.says(.pollutant) { return 70 }
        if name.says(.quantity, .number) { return nil }
        if name.says(.value) {
            if name.says(.air) || outer?.says(.air) == true || outer?.isIndex == true { return 93 + bonus }
            if outer?.says(.quantity) == true { return nil }
            return isSigned ? 92 : 40
        }
        if isSigned { return 60 }
        if names.dropFirst().prefix(2).contains(where: \.isIndex) { return 80 + bonus }
        // Only the names of containers say nothing of what a number in them is.
        return name.says(.structure) ? 5 : nil
    }

    // MARK: Places

    /// Whether the name may be that of a place or a group of places: no other meaning is known.
    var canBePlace: Bool {
        let isStandard = plain.utf8.count < 5 && says(.standard)
        // `station1` may be one, `station` is not.
        let isKindOfPlace = says(.place) && !plain.utf8.contains(where: isDigit)
        return plain.utf8.count > 1 && !isStandard && !isIndex && !isKindOfPlace
            && !says(.structure, .quantity, .value, .otherTime, .kind)
    }

    /// Whether the text may be a place's name: it has letters and is not a time, address or quantity.
    static func isPlace(_ text: String) -> Bool {
        let isShort = !text.isEmpty && text.utf8.count <= 128 && !text.unicodeScalars.contains(where: breaksLine)
        let hasLetter = text.unicodeScalars.contains { $0.properties.isAlphabetic }
        let isTime = text.utf8.prefix(4).allSatisfy(isDigit) && text.utf8.count >= 10
        return isShort && hasLetter && !isTime && !text.contains("://") && !saysIndex(text)
            && !FieldName(text).says(.parameter) && !["no", "co"].contains(text.lowercased())
    }
}
