/// The names that a word stands for in part: their last dotted part, the beginnings of some of their words, or all of
/// their words and others; else the one that it misspells. None where there is no such name.
func nearest(to word: String, among names: [String]) -> [String] {
    let words = nameWords(word)
    guard !words.isEmpty, word.utf8.count <= 64 else { return [] }
    let rules: [(String) -> Bool] = [
        { $0 == word || nameWords($0) == words },
        { $0.split(separator: ".").last.map(String.init) == word },
        { standInOrder(words, in: nameWords($0)) { $0 == $1 || ($0.utf8.count > 2 && $1.hasPrefix($0)) } },
        { standInOrder(nameWords($0), in: words) { $0 == $1 } },
    ]
    for rule in rules {
        let meant = unique(names).filter(rule)
        if !meant.isEmpty { return meant }
    }
    return [closest(to: word, among: names)].compactMap(\.self)
}

/// The name that a word misspells: one letter is wrong, or two of sixteen or more.
func closest(to word: String, among names: [String]) -> String? {
    guard word.utf8.count <= 64 else { return nil }
    let misspelt = names.compactMap { name -> (name: String, distance: Int)? in
        let length = max(word.utf8.count, name.utf8.count)
        let limit = [3, 16].count { length >= $0 }
        let distance = distance(word, name)
        return distance <= limit ? (name, distance) : nil
    }
    return misspelt.min { $0.distance < $1.distance }?.name
}

/// The words of a name, between its dots and dashes.
func nameWords(_ name: String) -> [String] { name.split { ".-".contains($0) }.map(String.init) }

/// Whether each of some words is that of a name, in the same order, with others between them or not.
func standInOrder(_ words: [String], in name: [String], as isSame: (String, String) -> Bool) -> Bool {
    var rest = name[...]
    return words.allSatisfy { word in
        guard let place = rest.firstIndex(where: { isSame(word, $0) }) else { return false }
        rest = rest[(place + 1)...]
        return true
    }
}

func unique(_ names: [String]) -> [String] {
    names.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
}

/// The number of bytes that must be added, removed, replaced or exchanged with the next one (Damerau and Levenshtein).
private func distance(_ one: String, _ other: String) -> Int {
    let one = Array(one.utf8)
    let other = Array(other.utf8)
    var rows = [Array(0...other.count)]
    for line in one.indices {
        var row = [line + 1]
        for column in other.indices {
            let replaced = rows[line][column] + (one[line] == other[column] ? 0 : 1)
            var least = min(replaced, rows[line][column + 1] + 1, row[column] + 1)
            if line > 0, column > 0, one[line] == other[column - 1], one[line - 1] == other[column] {
                least = min(least, rows[line - 1][column - 1] + 1)
            }
            row.append(least)
        }
        rows.append(row)
    }
    return rows[one.count][other.count]
}
