extension Program {
    /// Usage of a command, on one line.
    func usage(of command: Command) -> String {
        var words = [name]
        if !command.name.isEmpty { words.append(command.name == commands[0].name ? "[\(command.name)]" : command.name) }
        return (words + command.operands.map(\.name) + ["[flags]"]).joined(separator: " ")
    }

    /// The text of `--help`, with a line break at the end.
    /// - Parameter command: the one that was named; `nil` = the program as a whole, with the flags of its first
    ///   command.
    public func helpText(for command: Command? = nil) -> String {
        var lines: [String] = []
        if let command {
            lines += ["usage: " + usage(of: command), ""]
            lines += wrapped(command.summary)
        } else {
            for (index, command) in commands.enumerated() {
                lines.append((index == 0 ? "usage: " : "       ") + usage(of: command))
            }
            lines += [""] + wrapped(summary)
            if commands.count > 1 {
                lines += ["", "Commands (each has its own --help):"]
                for command in commands where !command.name.isEmpty {
                    lines.append("  " + command.name)
                    lines += wrapped(command.summary, indent: 6)
                }
            }
        }
        lines += flagLines(of: command ?? commands[0])
        return lines.joined(separator: "\n") + "\n"
    }

    private func flagLines(of command: Command) -> [String] {
        var lines: [String] = []
        func append(_ flags: [FlagSpec]) {
            for flag in flags {
                lines.append("  --" + flag.name + (flag.placeholder.map { "=" + $0 } ?? ""))
                lines += wrapped(flag.help + flag.remark, indent: 6)
            }
        }
        for (group, flags) in command.groups {
            lines += ["", group + ":"]
            append(flags)
        }
        lines.append("")
        append(FlagSpec.general)
        if let rule = environmentRule(for: command) { lines += [""] + wrapped(rule) }
        return lines
    }

    /// The sentence about environment variables; `nil` = they are not read.
    func environmentRule(for command: Command) -> String? {
        guard let environmentPrefix else { return nil }
        let example = command.shownFlags.first { !$0.isSwitch } ?? command.shownFlags.first
        return
            "Each flag is also an environment variable: \(environmentPrefix) and the flag in capitals with . and - as _"
            + (example.map { ", for example \($0.variable(prefix: environmentPrefix))" } ?? "")
            + ". The flag wins. Repeatable ones are separated by line breaks; switches are true or false."
    }
}

extension Command {
    /// The flags by their headings, in the order of the table.
    var groups: [(heading: String, flags: [FlagSpec])] {
        var groups: [(heading: String, flags: [FlagSpec])] = []
        for flag in shownFlags {
            if let place = groups.firstIndex(where: { $0.heading == flag.group }) {
                groups[place].flags.append(flag)
            } else {
                groups.append((flag.group, [flag]))
            }
        }
        return groups
    }
}

/// The words in lines of at most 80 characters.
func wrapped(_ text: String, indent: Int = 0) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    for word in text.split(separator: " ") {
        if let last = lines.last, last.count + 1 + word.count <= 80 {
            lines[lines.count - 1] += " " + word
        } else {
            lines.append(margin + word)
        }
    }
    return lines
}
