internal import Bytes

/// Advice for a word that users type and the program does not know: a flag of other programs or of an earlier version,
/// a command of the other program. The tables of each program stand beside its flags.
public struct Advice: Sendable {
    /// As typed: a flag with its dashes, words of a flag's name, or another word. A first or last `*` stands for
    /// anything there.
    let words: [String]
    let isOfFlags: Bool
    /// Completes the error after the word.
    let text: String

    /// The rows of two tables. A row is a line with words and an indented one with what to do instead; `#` begins a
    /// comment. Upper and lower case are the same but for single letters, and so are `_` and `-`.
    ///
    /// - Parameters:
    ///   - flags: words with dashes are whole flags, others stand anywhere in the names of flags: `tls` is a word of
    ///     `--web.tls-key`, `feed.cert` are two of `--feed.client-cert`, and `tls*` begins one of `--tlscert`.
    ///   - others: words without dashes, such as commands of the other program.
    public static func rows(flags: [UInt8], others: [UInt8]) -> [Advice] {
        rows(flags, isOfFlags: true) + rows(others, isOfFlags: false)
    }

    private static func rows(_ table: [UInt8], isOfFlags: Bool) -> [Advice] {
        let lines = String(decoding: table, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
        return stride(from: 0, to: lines.count - 1, by: 2).map { place in
            Advice(
                words: lines[place].split(separator: " ").map(String.init), isOfFlags: isOfFlags,
                text: String(lines[place + 1].drop { $0 == " " }))
        }
    }

    fileprivate func isFor(_ word: String) -> Bool {
        guard word.hasPrefix("-") == isOfFlags else { return false }
        let name = folded(word)
        return words.contains { known in
            isOfFlags && !known.hasPrefix("-")
                ? standInOrder(nameWords(known), in: nameWords(name), as: matches) : matches(folded(known), name)
        }
    }
}

/// Whether a word is the known one, whose first or last `*` stands for anything.
private func matches(_ known: String, _ word: String) -> Bool {
    if known.first == "*" { return word.hasSuffix(known.dropFirst()) }
    return known.last == "*" ? word.hasPrefix(known.dropLast()) : word == known
}

extension Program {
    /// The text for a flag or another word, `nil` where the table does not know. A flag may be meant by a word without
    /// dashes and the other way round; `-p9090` is `-p`.
    func advice(for word: String) -> String? {
        let name = String(word.drop { $0 == "-" })
        let isFlag = word.hasPrefix("-")
        let hasValue = isFlag && !word.hasPrefix("--") && name.dropFirst().first?.isLetter == false
        let spellings = [word, hasValue ? "-\(name.prefix(1))" : word, isFlag ? name : "--\(name)"]
        return spellings.lazy.compactMap { spelling in advice.first { $0.isFor(spelling) }?.text }.first
    }

    /// The end of an error about a flag that there is not: what to use instead; `nil` where nothing is alike.
    ///
    /// - Parameter command: the one whose flags are meant; `nil` = those of all.
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
        if let command = self.command(named: name) { return "a command: \(usage(of: command))" }
        if let advice = advice(for: flag) { return advice }
        let meant = nearest(to: name, among: names).prefix(3).map { "--" + $0 }
        return meant.isEmpty ? nil : "did you mean \(meant.joined(separator: " or "))?"
    }
}

/// A flag's name, or another word, as it is compared: without dashes before it, in lower case, with `-` for `_`. A
/// single letter keeps its case.
func folded(_ word: String) -> String {
    let name = word.drop { $0 == "-" }
    return name.count == 1 ? String(name) : String(name.lowercased().map { $0 == "_" ? "-" : $0 })
}
