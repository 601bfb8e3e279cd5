extension Program {
    /// How a command is called, on one line.
    func usage(of command: Command) -> String {
        var words = [name]
        if !command.name.isEmpty {
            words.append(command.name == commands[0].name ? "[\(command.name)]" : command.name)
        }
        return (words + command.operands + ["[flags]"]).joined(separator: " ")
    }

    /// The text of `--help`, with a line break at the end.
    /// - Parameter command: the one that was named; nil = the program as a whole, with the flags of its first command.
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
        var groups: [String] = []
        for flag in command.flags where !groups.contains(flag.group) {
            groups.append(flag.group)
        }
        for group in groups {
            lines += ["", group + ":"]
            for flag in command.flags where flag.group == group {
                lines.append("  --" + flag.name + (flag.placeholder.map { "=" + $0 } ?? ""))
                lines += wrapped(flag.help + flag.remark, indent: 6)
            }
        }
        lines += ["", "  --help", "      print this text", "  --version", "      print the version"]
        if let environmentPrefix {
            let example = command.flags.first { !$0.isSwitch } ?? command.flags.first
            let text =
                "Each flag is also an environment variable: \(environmentPrefix) and the flag in capitals with . and - as _"
                + (example.map { ", for example \($0.variable(prefix: environmentPrefix))" } ?? "")
                + ". The flag wins. Repeatable ones are separated by line breaks; switches are true or false."
            lines += [""] + wrapped(text)
        }
        return lines
    }
}

extension FlagSpec {
    fileprivate var remark: String {
        let remarks = [
            defaultText.flatMap { $0.isEmpty ? nil : "default \($0)" },
            isRepeatable ? "repeatable" : nil,
        ].compactMap(\.self)
        return remarks.isEmpty ? "" : " (" + remarks.joined(separator: ", ") + ")"
    }
}

/// The words in lines of at most 80 characters.
private func wrapped(_ text: String, indent: Int = 0) -> [String] {
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
