import Bytes

/// The meaning of the names of fields, by the table in `field-names.txt`.
enum FieldNames {
    enum Meaning: String {
        case index, otherIndex, air, standard, value, pollutant, quantity, number, parameter, otherTime
        case city, station, area, device, code, country, place, text, topic, kind, structure, error, message, details
    }

    /// The words of a meaning: whole names, and those with a `*`.
    private struct Words {
        var names: Set<Substring> = []
        var parts: [(word: Substring, isOpenBefore: Bool, isOpenBehind: Bool)] = []

        func contains(_ name: String) -> Bool {
            names.contains(name[...])
                || parts.contains { part in
                    guard part.isOpenBefore else { return name.hasPrefix(part.word) }
                    return part.isOpenBehind ? name.contains(part.word) : name.hasSuffix(part.word)
                }
        }
    }

    private static let table: [Meaning: Words] = {
        var table: [Meaning: Words] = [:]
        for row in String(decoding: PackageResources.field_names_txt, as: UTF8.self).split(separator: "\n") {
            let words = row.split(separator: " ")
            guard let meaning = Meaning(rawValue: String(words[0])) else { continue }
            for word in words.dropFirst() {
                let plain = word.filter { $0 != "*" }[...]
                if plain == word {
                    table[meaning, default: Words()].names.insert(word)
                } else {
                    table[meaning, default: Words()].parts.append((plain, word.first == "*", word.last == "*"))
                }
            }
        }
        return table
    }()

    /// Lower-case letters and digits alone: `AQI_US` is `aqius`. Empty for a long name.
    private static func plain(_ name: String) -> String {
        if name.utf8.count > 128 { return "" }
        let scalars = name.lowercased().unicodeScalars
        return String(scalars.filter { $0.properties.isAlphabetic || ("0"..."9").contains($0) })
    }

    /// Whether the name has one of the meanings.
    static func says(_ name: String, _ meanings: Meaning...) -> Bool {
        let name = plain(name)
        return meanings.contains { table[$0]?.contains(name) == true }
    }

    // MARK: Values

    /// Whether the name is that of an index of the air.
    static func isIndex(_ name: String) -> Bool {
        (says(name, .index) && !says(name, .quantity, .number)) || says(name, .otherIndex)
    }

    /// Whether a text says what a value beside it is: `"type": "aqi"`.
    static func saysIndex(_ text: String) -> Bool {
        let text = plain(text)
        guard text.count <= 24, let word = table[.index]?.parts.map(\.word).first(where: text.contains) else {
            return false
        }
        return text == word || says(text.replacing(word, with: "", maxReplacements: 1), .standard)
    }

    /// How much the names of a number say that it is an index, up to 100, and whether a text beside it had to say so
    /// too; `nil`: it is something else.
    ///
    /// - Parameters:
    ///   - names: those of the fields on the way to it, the nearest first.
    ///   - isSigned: whether there is such a text.
    static func indexScore(_ names: [String], isSigned: Bool) -> (score: Int, needsSign: Bool)? {
        guard let name = names.first.map(plain) else { return (5, false) }
        let outer = names.dropFirst().first ?? ""
        // The United States' standard is the commonest of several.
        let bonus = name == "aqi" || name.contains("us") ? 2 : 0
        if isIndex(name) { return (98 + bonus, false) }
        // The index of a pollutant alone.
        if says(name, .index), says(name, .pollutant) { return (70, false) }
        if says(name, .quantity, .number) { return nil }
        if says(name, .value) {
            if isIndex(outer) || says(outer, .air) || says(name, .air) { return (93 + bonus, false) }
            return isSigned ? (92, true) : (40, false)
        }
        if isSigned { return (60, true) }
        return (names.dropFirst().prefix(2).contains(where: isIndex) ? 80 : 5, false)
    }

    // MARK: Places

    /// How little the name is one of a place's name, from 0; `nil`: it is something else.
    static func placeRank(_ name: String) -> Int? {
        let tiers: [Meaning] = [.city, .station, .area, .device, .code, .country]
        if let tier = tiers.firstIndex(where: { says(name, $0) }) { return tier * 10 }
        return says(name, .place) && !says(name, .text, .kind) ? 12 : nil
    }

    /// How little the field's name says that it has a server's own words, from 0: those of an error, those that stand
    /// beside readings as well, and those that are words only where something else says that it is an error; 3: it says
    /// something else.
    static func wordsRank(_ name: String) -> Int {
        let meanings: [Meaning] = [.error, .message, .details]
        return meanings.firstIndex { says(name, $0) } ?? 3
    }

    /// Whether the name can be that of a place, or of a group of places: nothing else that names of fields say.
    static func canBePlace(_ name: String) -> Bool {
        let plain = plain(name)
        let isStandard = plain.utf8.count < 5 && says(plain, .standard)
        return plain.utf8.count > 1 && !isStandard && !isIndex(plain) && placeRank(plain) == nil
            && !says(plain, .structure, .quantity, .value, .otherTime, .kind)
    }

    /// Whether the text can be a place's name: letters in it, no time, no address, no quantity.
    static func isPlace(_ text: String) -> Bool {
        let isShort = !text.isEmpty && text.utf8.count <= 128 && !text.unicodeScalars.contains(where: breaksLine)
        let hasLetter = text.unicodeScalars.contains { $0.properties.isAlphabetic }
        let isTime = text.utf8.prefix(4).allSatisfy(isDigit) && text.utf8.count >= 10
        return isShort && hasLetter && !isTime && !text.contains("://") && !saysIndex(text) && !says(text, .parameter)
    }
}
