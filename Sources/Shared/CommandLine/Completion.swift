/// A shell that `--completion` knows.
enum Shell: String, CaseIterable {
    case bash, zsh, fish
}

extension Program {
    /// The text of `--completion`: a script that completes commands, flags, values of closed sets, and files.
    ///
    /// A script reads a command line as `parse` does: the first word that is neither a flag nor a flag's value names the
    /// command; `--flag value` is `--flag=value`; `--` ends the flags. A flag that is given is not offered again unless
    /// it is repeatable.
    func completion(for shell: Shell) -> String {
        switch shell {
        case .bash: bashCompletion
        case .zsh: zshCompletion
        case .fish: fishCompletion
        }
    }

    /// As the name of a shell function.
    var function: String { "_" + name.map { $0 == "-" ? "_" : String($0) }.joined() }

    var namedCommands: [Command] { commands.filter { !$0.name.isEmpty } }

    /// The flags of all commands that have a value, each once, with their dashes.
    var flagsWithValue: [String] {
        var names: [String] = []
        for flag in commands.flatMap(\.flags) + FlagSpec.general where !flag.isSwitch && !names.contains(flag.dashed) {
            names.append(flag.dashed)
        }
        return names
    }

    /// The tables of flags with the patterns of the commands that they are for: the default command's last, as it is
    /// also for command lines that name none.
    var patternsAndFlags: [(pattern: String, flags: [FlagSpec])] {
        let tables = commandsByFlags.map { commands in
            (pattern: commands.map(\.name).joined(separator: "|"), flags: commands[0].flags)
        }
        return tables.dropFirst() + [(pattern: "*", flags: tables[0].flags)]
    }
}

extension FlagSpec {
    var dashed: String { "--" + name }
}

extension Command {
    /// The summary as far as it fits beside a name: its first words, up to a colon or the end of a sentence.
    var gist: String {
        let words = summary.split(separator: " ")
        let end = words.firstIndex { $0.last.map(".:;".contains) == true } ?? words.count - 1
        let text = words.prefix(end + 1).joined(separator: " ")
        return text.last.map(".:;".contains) == true ? String(text.dropLast()) : text
    }
}

/// Lines of a script, each with its line break.
func block(_ lines: [String]) -> String { lines.map { $0 + "\n" }.joined() }

/// Shell text in single quotes.
func quotedForShell(_ text: String) -> String {
    "'" + text.map { $0 == "'" ? #"'\''"# : String($0) }.joined() + "'"
}

/// With a backslash before each of the characters, and before backslashes.
func escaped(_ text: String, _ characters: String) -> String {
    text.map { $0 == "\\" || characters.contains($0) ? "\\\($0)" : String($0) }.joined()
}
