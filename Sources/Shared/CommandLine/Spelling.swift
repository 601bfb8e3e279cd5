/// The names that may have been meant, by their ends, their beginnings, or few wrong letters; none where there is no
/// such name.
func nearest(to word: String, among names: [String]) -> [String] {
    guard !word.isEmpty, word.utf8.count <= 64 else { return [] }
    let names = unique(names)
    func parts(_ name: String, _ separators: String) -> [Substring] { name.split { separators.contains($0) } }
    let rules: [(String) -> Bool] = [
        { $0 == word || parts($0, ".-") == parts(word, ".-") },
        { parts($0, ".").last.map(String.init) == word },
        { parts($0, ".-").contains { $0 == word } },
        { $0.hasPrefix(word) || (word.utf8.count > 1 && parts($0, ".-").contains { $0.hasPrefix(word) }) },
        { word.utf8.count > 2 && $0.hasSuffix(word) },
    ]
    for rule in rules {
        let meant = names.filter(rule)
        if !meant.isEmpty { return meant }
    }
    let limit = word.utf8.count < 4 ? 1 : max(2, word.utf8.count / 4)
    return [closest(to: word, among: names, within: limit)].compactMap(\.self)
}

/// The name that a word is a misspelling of: a long word in which at most two letters are wrong.
func closest(to word: String, among names: [String]) -> String? {
    (6...64).contains(word.utf8.count) ? closest(to: word, among: names, within: 2) : nil
}

private func closest(to word: String, among names: [String], within limit: Int) -> String? {
    let distances = names.map { (name: $0, distance: distance(word, $0)) }
    guard let nearest = distances.min(by: { $0.distance < $1.distance }), nearest.distance <= limit else { return nil }
    return nearest.name
}

func unique(_ names: [String]) -> [String] {
    names.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
}

/// The Levenshtein distance: how many bytes must be added, removed or replaced.
private func distance(_ one: String, _ other: String) -> Int {
    let other = Array(other.utf8)
    var row = Array(0...other.count)
    for (line, character) in one.utf8.prefix(64).enumerated() {
        var diagonal = row[0]
        row[0] = line + 1
        for column in other.indices {
            let replaced = diagonal + (character == other[column] ? 0 : 1)
            diagonal = row[column + 1]
            row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
        }
    }
    return row[other.count]
}
