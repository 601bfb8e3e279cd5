import Bytes

/// The meaning of the names of fields, by the table in `field-names.txt`.
enum FieldNames {
    enum Meaning: String {
        case index, air, standard, value, pollutant, quantity, number, parameter, otherTime
        case place, text, topic, kind, structure, words
    }

    /// Words of a meaning: whole names, and those with a `*`.
    private struct Row {
        let meaning: Meaning
        let rank: Int
        let names: Set<Substring>
        let patterns: [Substring]

        func contains(_ name: String) -> Bool {
            names.contains(name[...])
                || patterns.contains { pattern in
                    guard pattern.first == "*" else { return name.hasPrefix(pattern.dropLast()) }
                    let word = pattern.dropFirst()
                    return word.last == "*" ? name.contains(word.dropLast()) : name.hasSuffix(word)
                }
        }
    }

    private static let table = String(decoding: PackageResources.field_names_txt, as: UTF8.self)
        .split(separator: "\n").compactMap { line -> Row? in
            let words = line.split(separator: " ")
            let title = words[0].split(separator: ":")
            guard let meaning = Meaning(rawValue: String(title[0])) else { return nil }
            let patterns = words.dropFirst().filter { $0.contains("*") }
            let names = Set(words.dropFirst()).subtracting(patterns)
            return Row(meaning: meaning, rank: Int(title.last ?? "") ?? 0, names: names, patterns: patterns)
        }

    /// Lower-case letters and digits alone: `AQI_US` is `aqius`. Empty for a long name.
    private static func plain(_ name: String) -> String {
        if name.utf8.count > 128 { return "" }
        let scalars = name.lowercased().unicodeScalars
        return String(scalars.filter { $0.properties.isAlphabetic || ("0"..."9").contains($0) })
    }

    static func says(_ name: String, _ meanings: Meaning...) -> Bool {
        let name = plain(name)
        return table.contains { meanings.contains($0.meaning) && $0.contains(name) }
    }

    /// The rank of the first row that has the name in this meaning; `nil`: it has another.
    static func rank(_ name: String, _ meaning: Meaning) -> Int? {
        let name = plain(name)
        return table.first { $0.meaning == meaning && $0.contains(name) }?.rank
    }

    // MARK: Values

    static func isIndex(_ name: String) -> Bool {
        says(name, .index) && !says(name, .quantity, .number)
    }

    /// Whether a text says what a value beside it is: `"type": "aqi"`.
    static func saysIndex(_ text: String) -> Bool {
        let text = plain(text)
        let words = table.lazy.filter { $0.meaning == .index }.flatMap(\.patterns).map { $0.dropFirst().dropLast() }
        guard text.count <= 24, let word = words.first(where: text.contains) else { return false }
        return text == word || says(text.replacing(word, with: "", maxReplacements: 1), .standard)
    }

    /// How much the names of fields on the way to a number, the nearest first, say that it is an index, up to 100;
    /// `nil`: it is something else. With `isSigned` a text beside it says so too.
    static func indexScore(_ names: [String], isSigned: Bool) -> Int? {
        guard let name = names.first.map(plain) else { return 5 }
        let outer = names.dropFirst().first ?? ""
        // The United States' standard is the commonest of several.
        let bonus = name == "aqi" || name.contains("us") ? 2 : 0
        if isIndex(name) { return 98 + bonus }
        // The index of a pollutant alone.
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

    /// Whether the name can be that of a place, or of a group of places: nothing else that names of fields say.
    static func canBePlace(_ name: String) -> Bool {
        let plain = plain(name)
        let isStandard = plain.utf8.count < 5 && says(plain, .standard)
        return plain.utf8.count > 1 && !isStandard && !isIndex(plain)
            && !says(plain, .place, .structure, .quantity, .value, .otherTime, .kind)
    }

    /// Whether the text can be a place's name: letters in it, no time, no address, no quantity.
    static func isPlace(_ text: String) -> Bool {
        let isShort = !text.isEmpty && text.utf8.count <= 128 && !text.unicodeScalars.contains(where: breaksLine)
        let hasLetter = text.unicodeScalars.contains { $0.properties.isAlphabetic }
        let isTime = text.utf8.prefix(4).allSatisfy(isDigit) && text.utf8.count >= 10
        return isShort && hasLetter && !isTime && !text.contains("://") && !saysIndex(text) && !says(text, .parameter)
    }
}
