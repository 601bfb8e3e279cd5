extension Program {
    var zshCompletion: String {
        """
        #compdef \(name)
        # zsh completion of \(name), written by: \(name) --completion zsh
        _\(name)() {
            local curcontext=$curcontext state line word skip command
            local -a commands flags
            typeset -A opt_args
            for word in "${(@)words[2,CURRENT-1]}"; do
                if [[ -n $skip ]]; then
                    skip=
                    [[ $word == --* ]] || continue
                fi
                case $word in
                    (\(flagsWithValue.joined(separator: "|"))) skip=1 ;;
                    (-?*) ;;
                    (*)
                        command=$word
                        break
                        ;;
                esac
            done
            commands=(
        \(block(namedCommands.map { "        " + quotedForShell("\($0.name):\($0.gist)") }))\
            )
            case $command in
        \(block(patternsAndFlags.flatMap(zshCase)))\
            esac
            flags+=(
        \(block(FlagSpec.general.map { "        " + zshFlag($0, excluding: "(- *)") }))\
            )
            case $command in
        \(block(zshOperands))\
            esac
            [[ $state != command ]] || _describe -t commands command commands
        }
        # As a file of $fpath this is the function's first call; else it is sourced.
        if [[ $funcstack[1] == _\(name) ]]; then
            _\(name) "$@"
        else
            compdef _\(name) \(name)
        fi

        """
    }

    private func zshCase(_ pattern: String, _ flags: [FlagSpec]) -> [String] {
        ["        (\(pattern))", "            flags=("] + flags.map { "                " + zshFlag($0) }
            + ["            )", "            ;;"]
    }

    private func zshFlag(_ flag: FlagSpec, excluding others: String = "") -> String {
        let help = "[\(escaped(flag.help, "[]"))]"
        let action = zshAction(flag.suggestions)
        // A switch takes a value behind = only.
        let value =
            flag.placeholder.map { "=\(help):\(escaped($0, ":")):\(action)" }
            ?? (flag.suggestions == .none ? help : "=-\(help)::value:\(action)")
        return quotedForShell(others + (flag.isRepeatable ? "*" : "") + flag.dashed + value)
    }

    /// A blank only says what is missing.
    private func zshAction(_ suggestions: Suggestions) -> String {
        switch suggestions {
        case .none: " "
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .files: "_files"
        }
    }

    private var zshOperands: [String] {
        func operands(_ command: Command, from first: Int) -> String {
            command.operands.enumerated().map { place, operand in
                " " + quotedForShell("\(first + place):\(escaped(operand.name, ":")):\(zshAction(operand.suggestions))")
            }.joined()
        }
        let call = "_arguments -C -S : $flags"
        let unnamed = namedCommands.isEmpty ? operands(commands[0], from: 1) : " '1: :->command'"
        return ["        ('') \(call)\(unnamed) ;;"]
            + namedCommands.map { "        (\($0.name)) \(call) '1: : '\(operands($0, from: 2)) ;;" }
            + ["        (*) \(call) ;;"]
    }
}
