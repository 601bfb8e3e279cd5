extension Program {
    func usage(of command: Command) -> String {
        var words = [name]
        if !command.name.isEmpty { words.append(command.name == commands[0].name ? "[\(command.name)]" : command.name) }
        return (words + command.operands + ["[flags]"]).joined(separator: " ")
    }

    /// Returns the text of `--help` for a command; `nil` for the program, with the flags of its first command.
    func helpText(for command: Command? = nil) -> String {
        var lines: [String] = []
        if let command {
            lines += ["usage: " + usage(of: command), ""] + wrapped(command.summary)
        } else {
            lines.append("usage: " + commands.map(usage).joined(separator: "\n       "))
            lines += [""] + wrapped(summary) + ["", "Commands (each has its own --help):"]
            for command in commands where !command.name.isEmpty {
                lines += ["  " + command.name] + wrapped(command.summary, indent: 6)
            }
        }
        lines += flagLines(of: command ?? commands[0])
        return lines.joined(separator: "\n") + "\n"
    }

    private func flagLines(of command: Command) -> [String] {
        func shown(_ flag: FlagSpec) -> [String] {
            let value = flag.placeholder.map { "=" + $0 } ?? ""
            return ["  --" + flag.name + value] + wrapped(flag.help + flag.remark, indent: 6)
        }
        func heading(of flag: FlagSpec) -> String {
            command.headings[String(flag.name.prefix { $0 != "." })] ?? "Flags"
        }
        var lines: [String] = []
        for group in unique(command.shownFlags.map(heading)) {
            lines += ["", group + ":"] + command.shownFlags.filter { heading(of: $0) == group }.flatMap(shown)
        }
        lines += [""] + FlagSpec.general.flatMap(shown)
        let example = (command.shownFlags + FlagSpec.general)[0].variable(prefix: environmentPrefix)
        let rule =
            "Each of the other flags is also an environment variable: \(environmentPrefix) and the flag in capitals with . and - as _, "
            + "for example \(example). The flag wins. Values of repeatable flags are separated by line breaks; switches are true or "
            + "false."
        return lines + [""] + wrapped(rule)
    }
}

/// Wraps text to lines of at most 80 characters.
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
