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
    let limits = [1, 3, 16].enumerated()
    return limits.lazy.compactMap { mistakes, length in
        names.first { name in
            max(word.utf8.count, name.utf8.count) >= length && differ(word.utf8[...], name.utf8[...], atMost: mistakes)
        }
    }.first
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

/// Whether two words differ by so many bytes at most that are added, missing, replaced or exchanged with the next one.
private func differ(_ one: Substring.UTF8View, _ other: Substring.UTF8View, atMost limit: Int) -> Bool {
    let same = zip(one, other).prefix { $0 == $1 }.count
    let one = one.dropFirst(same)
    let other = other.dropFirst(same)
    guard limit > 0, let first = one.first, let second = other.first else { return one.count + other.count <= limit }
    let isExchanged = one.dropFirst().first == second && other.dropFirst().first == first
    return differ(one.dropFirst(), other, atMost: limit - 1) || differ(one, other.dropFirst(), atMost: limit - 1)
        || differ(one.dropFirst(), other.dropFirst(), atMost: limit - 1)
        || (isExchanged && differ(one.dropFirst(2), other.dropFirst(2), atMost: limit - 1))
}
