internal import Bytes

/// Advice for an unknown word that users are likely to type, such as a flag of another program.
public struct Advice: Sendable {
    /// Flags with their dashes, words of a flag's name, or other words. A leading or trailing `*` is a wildcard.
    let words: [String]
    let isOfFlags: Bool
    /// Follows the word in the error message.
    let text: String

    /// Returns the rows of two tables. A row is a line of words and an indented line of advice; lines that begin with
    /// `#` are comments. Comparison ignores case, except of single letters, and does not distinguish `_` from `-`.
    ///
    /// - Parameters:
    ///   - flags: words with dashes are complete flags. Others match words of a flag's name, in order: `tls` matches
    ///     `--web.tls-key`, `feed.cert` matches `--feed.client-cert`, and `tls*` matches `--tlscert`.
    ///   - others: words without dashes, such as commands of the other program.
    public static func rows(flags: [UInt8], others: [UInt8]) -> [Advice] {
        rows(flags, isOfFlags: true) + rows(others, isOfFlags: false)
    }

    private static func rows(_ table: [UInt8], isOfFlags: Bool) -> [Advice] {
        let lines = String(decoding: table, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
        return stride(from: 0, to: lines.count - 1, by: 2).map { index in
            Advice(
                words: lines[index].split(separator: " ").map(String.init), isOfFlags: isOfFlags,
                text: String(lines[index + 1].drop { $0 == " " }))
        }
    }

    fileprivate func isFor(_ word: String) -> Bool {
        guard word.hasPrefix("-") == isOfFlags else { return false }
        let name = folded(word)
        return words.contains { known in
            let isPartOfName = isOfFlags && !known.hasPrefix("-")
            guard isPartOfName else { return matches(folded(known), name) }
            return standInOrder(nameWords(known), in: nameWords(name), as: matches)
        }
    }
}

/// Returns whether a word matches a known one, which may have a leading or trailing `*`.
private func matches(_ known: String, _ word: String) -> Bool {
    if known.first == "*" { return word.hasSuffix(known.dropFirst()) }
    return known.last == "*" ? word.hasPrefix(known.dropLast()) : word == known
}

extension Program {
    /// Returns the advice for a flag or another word. Tries it with and without dashes, and `-p9090` as `-p`.
    func advice(for word: String) -> String? {
        var spellings = [word]
        if word.hasPrefix("-") {
            let name = String(word.drop { $0 == "-" })
            let isShortWithValue = !word.hasPrefix("--") && name.dropFirst().first?.isLetter == false
            if isShortWithValue { spellings.append("-\(name.prefix(1))") }
            spellings.append(name)
        } else if word.count > 1 {
            // A single letter is a flag only with its dash.
            spellings.append("--\(word)")
        }
        for spelling in spellings {
            if let advice = advice.first(where: { $0.isFor(spelling) }) { return advice.text }
        }
        return nil
    }

    /// Returns the end of an error about an unknown flag, with what to use instead; `nil` if nothing is similar.
    ///
    /// - Parameter command: restricts the search to its flags; `nil` searches those of all commands.
    public func hint(for flag: String, of command: Command? = nil) -> String? {
        let flags = command?.flags ?? commands.flatMap(\.flags)
        let names = flags.map(\.name)
        let name = folded(flag)
        if let misspelt = closest(to: name, among: names + FlagSpec.general.map(\.name)) {
            return "did you mean --\(misspelt)?"
        }
        if let positive = name.dropping(prefix: "no-"), flags.contains(where: { $0.isSwitch && $0.name == positive }) {
            return "did you mean --\(positive)=false?"
        }
        if let command = self.command(named: name) { return "it is a command: \(usage(of: command))" }
        if let advice = advice(for: flag) { return advice }
        let meant = nearest(to: name, among: names).prefix(3).map { "--" + $0 }
        return meant.isEmpty ? nil : "did you mean \(meant.joined(separator: " or "))?"
    }
}

/// Normalises a word for comparison: without leading dashes, with `-` for `_`, in lower case unless a single letter.
func folded(_ word: String) -> String {
    let name = word.drop { $0 == "-" }
    return name.count == 1 ? String(name) : String(name.lowercased().map { $0 == "_" ? "-" : $0 })
}
