internal import Bytes

// The shell functions run the program with `__complete` and the words of the line, to keep all rules in one place.

extension Program {
    /// Returns the output of `--completion`, a script for the shell; `nil` for an unknown shell.
    func completion(for shell: String) -> String? {
        let scripts = [
            "bash": PackageResources.completion_bash, "zsh": PackageResources.completion_zsh,
            "fish": PackageResources.completion_fish,
        ]
        return scripts[shell].map { String(decoding: $0, as: UTF8.self).replacing("PROGRAM", with: name) }
    }

    /// Returns the output of `__complete`: one candidate per line, with a tab and its help, or just `:files`.
    ///
    /// - Parameter words: the words of the line up to the one at the cursor, which is to be completed.
    func completions(of words: [String]) -> String {
        let word = words.last ?? ""
        let before = words.dropLast()
        /// Returns whether the word at a place is the value of the flag before it.
        func isValue(_ place: Int) -> Bool { place > 0 && flag(words[place - 1])?.isSwitch == false }
        let named = before.indices.filter { !isValue($0) }.compactMap { self.command(named: words[$0]) }.first
        let command = named ?? commands[0]
        if word.hasPrefix("--"), let sign = word.firstIndex(of: "=") {
            return values(of: String(word[..<sign]), in: command, after: String(word[...sign]), for: word)
        }
        if isValue(before.count), !word.hasPrefix("--") {
            return values(of: words[before.count - 1], in: command, after: "", for: word)
        }
        if word.hasPrefix("-") {
            let given = Set(before.map(\.beforeEqualsSign))
            let flags = command.shownFlags + FlagSpec.general
            let unused = flags.filter { $0.isRepeatable || !given.contains("--" + $0.name) }
            return lines(unused.map { "--\($0.name)\($0.isSwitch ? "" : "=")\t\($0.help)" }, for: word)
        }
        let others = commands.filter { !$0.name.isEmpty }
        if named == nil, !others.isEmpty { return lines(others.map { "\($0.name)\t\($0.summary)" }, for: word) }
        return command.operands.contains("FILE") ? ":files\n" : ""
    }

    private func values(of name: String, in command: Command, after prefix: String, for word: String) -> String {
        let flag = (command.flags + FlagSpec.general).first { "--" + $0.name == name }
        if flag?.placeholder == "FILE" { return ":files\n" }
        return lines((flag?.choices ?? []).map { prefix + $0 }, for: word)
    }

    private func lines(_ candidates: [String], for word: String) -> String {
        candidates.filter { $0.hasPrefix(word) }.map { $0 + "\n" }.joined()
    }
}
