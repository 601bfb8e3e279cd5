extension Program {
    var fishCompletion: String {
        let naming =
            namedCommands.isEmpty
            ? []
            : [
                "            case \(namedCommands.map(\.name).joined(separator: " "))",
                "                echo $word",
                "                return",
            ]
        let lines =
            namedCommands.map { fishLine("_is ''", "-a \($0.name) -d \(quotedForFish($0.gist))") }
            + commandsByFlags.flatMap { commands in commands[0].flags.map { fishFlag($0, of: fishNames(commands)) } }
            + FlagSpec.general.map { fishFlag($0, of: fishNames(commands)) } + fishOperands
        return """
            # fish completion of \(name), written by: \(name) --completion fish

            # The command that the line names, if any.
            function _\(function)_command
                set -l skips 0
                for word in (commandline -opc)[2..]
                    if test $skips = 1
                        set skips 0
                        string match -q -- '--*' $word; or continue
                    end
                    switch $word
                        case \(flagsWithValue.joined(separator: " "))
                            set skips 1
                        case '-?*'
            \(block(naming))\
                        case '*'
                            break
                    end
                end
                echo ''
            end

            function _\(function)_is
                contains -- (_\(function)_command) $argv
            end

            # Whether one of the commands can take the flag: it is not given up to the word at the end, -1 = the last. That
            # one does not count for a flag whose value is next.
            function _\(function)_takes -a end flag
                _\(function)_is $argv[3..]; or return 1
                set -l words (commandline -opc)
                string match -q -- "$flag=*" $words; and return 1
                not contains -- $flag $words[2..$end]
            end

            # Whether the word at the cursor is neither a flag nor a flag's value, and behind one of the commands.
            function _\(function)_is_operand
                string match -q -- '-*' (commandline -ct); and return 1
                contains -- (commandline -opc)[-1] \(flagsWithValue.joined(separator: " ")); and return 1
                _\(function)_is $argv
            end

            complete -c \(name) -f
            \(block(lines))
            """
    }

    /// The default command is also that of a line that names none.
    private func fishNames(_ commands: [Command]) -> String {
        var names = commands.map(\.name)
        if names[0] == self.commands[0].name, !names[0].isEmpty { names.insert("", at: 0) }
        return names.map { $0.isEmpty ? "''" : $0 }.joined(separator: " ")
    }

    private func fishFlag(_ flag: FlagSpec, of names: String) -> String {
        let end = flag.isSwitch ? -1 : -2
        let condition = flag.isRepeatable ? "_is \(names)" : "_takes \(end) \(flag.dashed) \(names)"
        let value = flag.isSwitch ? "-f" : flag.suggestions == .files ? "-r -F" : "-x"
        return fishLine(
            condition,
            "-l \(flag.name) \(value)\(fishCandidates(flag.suggestions)) -d \(quotedForFish(flag.help))")
    }

    private var fishOperands: [String] {
        commands.flatMap { command in
            command.operands.filter { $0.suggestions != .none }.map { operand in
                fishLine(
                    "_is_operand \(fishNames([command]))",
                    operand.suggestions == .files ? "-F" : "-f" + fishCandidates(operand.suggestions))
            }
        }
    }

    private func fishCandidates(_ suggestions: Suggestions) -> String {
        if case .words(let words) = suggestions { " -a '\(words.joined(separator: " "))'" } else { "" }
    }

    private func fishLine(_ condition: String, _ rest: String) -> String {
        "complete -c \(name) -n \"_\(function)\(condition)\" \(rest)"
    }

    private func quotedForFish(_ text: String) -> String { "'\(escaped(text, "'"))'" }
}
