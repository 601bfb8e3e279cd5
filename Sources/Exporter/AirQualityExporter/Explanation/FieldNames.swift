import Bytes

/// Meanings of field names, from the table in `field-names.txt`.
enum FieldNames {
    enum Meaning: String {
        case index, air, standard, value, pollutant, quantity, number, parameter, otherTime
        case place, text, topic, kind, structure, words
    }

    /// Words with a meaning: whole names, and patterns with a `*`.
    private struct Row {
        let meaning: Meaning
        let rank: Int
        let names: Set<Substring>
        let patterns: [Substring]

        func contains(_ name: String) -> Bool {
            if names.contains(name[...]) { return true }
            return patterns.contains { pattern in
                switch (pattern.first, pattern.last) {
                case ("*", "*"): name.contains(pattern.dropFirst().dropLast())
                case ("*", _): name.hasSuffix(pattern.dropFirst())
                default: name.hasPrefix(pattern.dropLast())
                }
            }
        }
    }

    private static let table = String(decoding: PackageResources.field_names_txt, as: UTF8.self)
        .split(separator: "\n").compactMap { line -> Row? in
            let words = line.split(separator: " ")
            let title = words[0].split(separator: ":")
            // Comments have no meaning.
            guard let meaning = Meaning(rawValue: String(title[0])) else { return nil }
            let patterns = words.dropFirst().filter { $0.contains("*") }
            let names = Set(words.dropFirst()).subtracting(patterns)
            return Row(meaning: meaning, rank: Int(title.last ?? "") ?? 0, names: names, patterns: patterns)
        }

    /// Keeps only lower-case letters and digits: `AQI_US` becomes `aqius`. Empty for a name of more than 128 bytes.
    private static func plain(_ name: String) -> String {
        if name.utf8.count > 128 { return "" }
        let scalars = name.lowercased().unicodeScalars
        return String(scalars.filter { $0.properties.isAlphabetic || ("0"..."9").contains($0) })
    }

    static func says(_ name: String, _ meanings: Meaning...) -> Bool {
        let name = plain(name)
        return table.contains { meanings.contains($0.meaning) && $0.contains(name) }
    }

    /// The rank of the first row with this meaning that has the name; `nil` if there is none.
    static func rank(_ name: String, _ meaning: Meaning) -> Int? {
        let name = plain(name)
        return table.first { $0.meaning == meaning && $0.contains(name) }?.rank
    }

    // MARK: Values

    static func isIndex(_ name: String) -> Bool {
        says(name, .index) && !says(name, .quantity, .number)
    }

    /// Whether a text says that a value beside it is an index: `"type": "aqi"`.
    static func saysIndex(_ text: String) -> Bool {
        let text = plain(text)
        let words = table.lazy.filter { $0.meaning == .index }.flatMap(\.patterns).map { $0.dropFirst().dropLast() }
        guard text.count <= 24, let word = words.first(where: text.contains) else { return false }
        return text == word || says(text.replacing(word, with: "", maxReplacements: 1), .standard)
    }

    /// How strongly the names of the fields leading to a number, nearest first, suggest an index, up to 100; `nil` if
    /// it is something else. `isSigned` means that a text beside the number says so.
    static func indexScore(_ names: [String], isSigned: Bool) -> Int? {
        guard let name = names.first.map(plain) else { return 5 }
        let outer = names.dropFirst().first ?? ""
        // The US standard is the most common.
        let bonus = name == "aqi" || name.contains("us") ? 2 : 0
        if isIndex(name) { return 98 + bonus }
        // The sub-index of a pollutant.
        if says(name, .index), says(name, .pollutant) { return 70 }
        if says(name, .quantity, .number) { return nil }
        if says(name, .value) {
            if isIndex(outer) || says(outer, .air) || says(name, .air) { return 93 + bonus }
            if says(outer, .quantity) { return nil }
            return isSigned ? 92 : 40
        }
        if isSigned { return 60 }
        return names.dropFirst().prefix(2).contains(where: isIndex) ? 80 + bonus : 5
    }

    // MARK: Places

    /// Whether the name may be that of a place or a group of places: no other meaning is known.
    static func canBePlace(_ name: String) -> Bool {
        let plain = plain(name)
        let isStandard = plain.utf8.count < 5 && says(plain, .standard)
        return plain.utf8.count > 1 && !isStandard && !isIndex(plain)
            && !says(plain, .place, .structure, .quantity, .value, .otherTime, .kind)
    }

    /// Whether the text may be a place's name: it has letters and is not a time, address or quantity.
    static func isPlace(_ text: String) -> Bool {
        let isShort = !text.isEmpty && text.utf8.count <= 128 && !text.unicodeScalars.contains(where: breaksLine)
        let hasLetter = text.unicodeScalars.contains { $0.properties.isAlphabetic }
        let isTime = text.utf8.prefix(4).allSatisfy(isDigit) && text.utf8.count >= 10
        return isShort && hasLetter && !isTime && !text.contains("://") && !saysIndex(text) && !says(text, .parameter)
    }
}
