/// Returns the names that a word may stand for, by the first rule that finds any: it has the same words, it is their
/// last dotted part, it abbreviates or omits some of their words, it has words besides theirs, or it misspells one.
func nearest(to word: String, among names: [String]) -> [String] {
    let words = nameWords(word)
    guard !words.isEmpty, word.utf8.count <= 64 else { return [] }
    let rules: [(String) -> Bool] = [
        { nameWords($0) == words },
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

/// Returns the name that a word misspells: one letter is wrong, missing, extra or out of index, or two if the longer of
/// both has 16 letters or more.
func closest(to word: String, among names: [String]) -> String? {
    func mistakes(_ name: String) -> Int {
        let difference = Array(name.utf8).difference(from: Array(word.utf8))
        return max(difference.insertions.count, difference.removals.count)
    }
    guard word.utf8.count <= 64, let name = names.min(by: { mistakes($0) < mistakes($1) }) else { return nil }
    let length = max(word.utf8.count, name.utf8.count)
    let limit = length < 16 ? 1 : 2
    return length > 2 && mistakes(name) <= limit ? name : nil
}

/// Splits a name at its dots and dashes.
func nameWords(_ name: String) -> [String] { name.split { ".-".contains($0) }.map(String.init) }

/// Returns whether all words match words of a name in the same order, possibly with others between them.
func standInOrder(_ words: [String], in name: [String], as isSame: (String, String) -> Bool) -> Bool {
    var rest = name[...]
    for word in words {
        guard let index = rest.firstIndex(where: { isSame(word, $0) }) else { return false }
        rest = rest[(index + 1)...]
    }
    return true
}

func unique(_ names: [String]) -> [String] {
    names.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
}
