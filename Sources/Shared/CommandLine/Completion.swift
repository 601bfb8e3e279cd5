/// A shell that `--completion` knows.
enum Shell: String, CaseIterable { case bash, zsh, fish }

// The shells' functions ask the program itself, by `__complete` and the words of the line, of which the last one is to
// be completed. So the rules of a command line stand in one place.

extension Program {
    /// Output of `__complete`: a candidate on each line, behind a tab what it means; `:files` alone for files.
    func completions(of words: [String]) -> String {
        var line = CompletedLine(program: self)
        for word in words.dropLast() { line.read(word) }
        return line.candidates(for: words.last ?? "")
    }

    /// The text of `--completion`: a function for the shell.
    func completion(for shell: Shell) -> String {
        let function = "_" + name.map { $0 == "-" ? "_" : String($0) }.joined()
        return switch shell {
        case .bash:
            #"""
            # bash completion of \#(name), written by: \#(name) --completion bash
            \#(function)() {
                # Bash ends words at = and : too; the program, only at blanks.
                local words line=${COMP_LINE:0:COMP_POINT} found word
                read -ra words <<<"$line"
                [[ $line != *[[:blank:]] ]] || words+=('')
                mapfile -t found < <(command "$1" __complete "${words[@]:1}" 2>/dev/null)
                COMPREPLY=()
                # Readline itself completes files: it knows quotes, tildes and folders.
                [[ ${found[0]} != :files ]] || { compopt -o default; return; }
                # Readline replaces $2, which begins behind the last = or : of the word.
                for word in "${found[@]%%$'\t'*}"; do COMPREPLY+=("${word#"${words[-1]%"$2"}"}"); done
                [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace
            }
            complete -F \#(function) \#(name)

            """#
        case .zsh:
            #"""
            #compdef \#(name)
            # zsh completion of \#(name), written by: \#(name) --completion zsh
            _\#(name)() {
                local -a found=("${(@f)$(command "${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
                local -a flags=(${(M)found:#--*=(|$'\t'*)}) others=(${found:#--*=(|$'\t'*)})
                if [[ $found[1] == :files ]]; then
                    compset -P '--*='
                    _files
                    return
                fi
                compadd -S '=' -q -d flags -- "${(@)flags%%=*}"
                compadd -d others -- "${(@)others%%$'\t'*}"
            }
            # As a file of $fpath this is the function's first call; else it is sourced.
            if [[ $funcstack[1] == _\#(name) ]]; then _\#(name) "$@"; else compdef _\#(name) \#(name); fi

            """#
        case .fish:
            #"""
            # fish completion of \#(name), written by: \#(name) --completion fish
            function _\#(function)
                set -l words (commandline -opc) "$(commandline -ct)"
                set -l found (command $words[1] __complete $words[2..])
                if test "$found[1]" != :files
                    printf '%s\n' $found
                else
                    set -l flag (string match --regex -- '^--[^=]*=|^' $words[-1])
                    printf "$flag%s\n" (__fish_complete_path (string replace -- "$flag" '' $words[-1]))
                end
            end
            complete -c \#(name) -f -a '(_\#(function))'

            """#
        }
    }
}

/// A command line up to the word at the cursor, right or wrong.
private struct CompletedLine {
    let program: Program
    var command: Command?
    var operandCount = 0
    var given: Set<String> = []
    /// The flag whose value is next.
    var flag: String?
    var isPastFlags = false

    mutating func read(_ word: String) {
        let isValue = flag != nil && !word.hasPrefix("--")
        flag = nil
        if isValue { return }
        if isPastFlags || !word.hasPrefix("-") || word == "-" {
            if command == nil, operandCount == 0, let named = program.command(named: word) {
                command = named
            } else {
                operandCount += 1
            }
        } else if word == "--" {
            isPastFlags = true
        } else {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            given.insert(String(parts[0]))
            let isSwitch = program.flag(String(parts[0]))?.isSwitch ?? true
            flag = parts.count > 1 || isSwitch ? nil : String(parts[0])
        }
    }

    func candidates(for word: String) -> String {
        let command = command ?? program.commands[0]
        func values(of flag: String, after prefix: String) -> String {
            let flag = (command.flags + FlagSpec.general).first { "--" + $0.name == flag }
            return text(flag?.suggestions ?? .none, after: prefix, for: word)
        }
        if let flag, !word.hasPrefix("--") { return values(of: flag, after: "") }
        if !isPastFlags, word.hasPrefix("-") {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { return values(of: String(parts[0]), after: "\(parts[0])=") }
            let flags = command.shownFlags + FlagSpec.general
            return lines(
                flags.filter { $0.isRepeatable || !given.contains("--" + $0.name) }.map {
                    (word: "--" + $0.name + ($0.isSwitch ? "" : "="), help: $0.help)
                }, for: word)
        }
        let named = program.commands.filter { !$0.name.isEmpty }
        if self.command == nil, operandCount == 0, !named.isEmpty {
            return lines(named.map { (word: $0.name, help: $0.summary) }, for: word)
        }
        return text(command.operands.dropFirst(operandCount).first?.suggestions ?? .none, after: "", for: word)
    }

    private func text(_ suggestions: Suggestions, after prefix: String, for word: String) -> String {
        switch suggestions {
        case .none: ""
        case .files: ":files\n"
        case .words(let words): lines(words.map { (word: prefix + $0, help: "") }, for: word)
        }
    }

    private func lines(_ candidates: [(word: String, help: String)], for word: String) -> String {
        candidates.filter { $0.word.hasPrefix(word) }.map { candidate in
            candidate.word + (candidate.help.isEmpty ? "" : "\t" + candidate.help) + "\n"
        }.joined()
    }
}
