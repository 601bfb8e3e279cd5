extension Program {
    var bashCompletion: String {
        let names = namedCommands.map(\.name)
        let naming =
            names.isEmpty
            ? []
            : [
                "            \(names.joined(separator: " | ")))",
                "                if [[ -z $command && $operands == 0 ]]; then command=$word; else ((operands++)); fi",
                "                ;;",
            ]
        return """
            # bash completion of \(name), written by: \(name) --completion bash
            \(function)() {
                # Bash ends words at = and : too; the program, only at blanks.
                local IFS=$' \\t\\n' rest=${COMP_LINE:0:COMP_POINT} word place
                local -a words=()
                for ((place = 0; place <= COMP_CWORD; place++)); do
                    word=${COMP_WORDS[place]}
                    if [[ $place == 0 || $rest == [[:blank:]]* ]]; then
                        rest=${rest#"${rest%%[![:blank:]]*}"}
                        words+=('')
                    fi
                    [[ $rest == "$word"* ]] || word=$rest
                    words[-1]+=$word
                    rest=${rest:${#word}}
                done

                local current=${words[-1]} command= operands=0 flag= given=' ' ended=
                for word in "${words[@]:1:${#words[@]}-2}"; do
                    if [[ -n $flag && $word != --* ]]; then
                        flag=
                        continue
                    fi
                    flag=
                    [[ -z $ended ]] || word=./$word
                    case $word in
                        --) ended=1 ;;
                        --*=*) given+="${word%%=*} " ;;
                        \(flagsWithValue.joined(separator: " | "))) flag=$word given+="$word " ;;
                        -?*) given+="$word " ;;
            \(block(naming))\
                        *) ((operands++)) ;;
                    esac
                done

                local before= candidates= files= flags= repeatable=' '
                [[ $current != --* ]] || flag=
                if [[ -z $flag && -z $ended && $current == --*=* ]]; then
                    flag=${current%%=*} before=$flag=
                fi
                case $command in
            \(block(patternsAndFlags.flatMap(bashCase)))\
                esac
                [[ $flag != --completion ]] || candidates='\(Shell.allCases.map(\.rawValue).joined(separator: " "))'
                if [[ -z $flag && -z $ended && $current == -* ]]; then
                    for word in $flags \(bashWords(FlagSpec.general)); do
                        [[ $given == *" ${word%=} "* && $repeatable != *" ${word%=} "* ]] || candidates+=" $word"
                    done
                elif [[ -z $flag ]]; then
                    case $command:$operands in
            \(block(bashOperands))\
                    esac
                fi

                COMPREPLY=()
                if [[ -n $files ]]; then
                    # Readline itself completes files: it knows quotes, tildes and folders.
                    compopt -o default
                    return
                fi
                # Readline replaces $2, which begins behind the last = or : of the word.
                local kept=${current%"$2"}
                for word in $candidates; do
                    word=$before$word
                    [[ $word != "$current"* ]] || COMPREPLY+=("${word#"$kept"}")
                done
                [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
            }
            complete -F \(function) \(name)

            """
    }

    private func bashCase(_ pattern: String, _ flags: [FlagSpec]) -> [String] {
        let repeatable = flags.filter(\.isRepeatable).map { $0.dashed + " " }.joined()
        let values = flags.compactMap { flag in
            bashFound(flag.suggestions).map { "                \(flag.dashed)) \($0) ;;" }
        }
        return [
            "        \(pattern))",
            "            flags='\(bashWords(flags))'",
            "            repeatable=' \(repeatable)'",
            "            case $flag in",
        ] + values + ["            esac", "            ;;"]
    }

    private var bashOperands: [String] {
        var operands: [(place: String, suggestions: Suggestions)] = []
        if !namedCommands.isEmpty { operands.append((":0", .words(namedCommands.map(\.name)))) }
        for command in commands {
            for (place, operand) in command.operands.enumerated() {
                operands.append(("\(command.name):\(place)", operand.suggestions))
            }
        }
        return operands.compactMap { place, suggestions in
            bashFound(suggestions).map { "            \(place)) \($0) ;;" }
        }
    }

    private func bashFound(_ suggestions: Suggestions) -> String? {
        switch suggestions {
        case .none: nil
        case .words(let words): "candidates='\(words.joined(separator: " "))'"
        case .files: "files=1"
        }
    }

    /// Flags as they are offered: those with a value end with `=`.
    private func bashWords(_ flags: [FlagSpec]) -> String {
        flags.map { $0.dashed + ($0.isSwitch ? "" : "=") }.joined(separator: " ")
    }
}
