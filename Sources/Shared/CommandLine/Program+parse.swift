internal import Bytes

extension Program {
    /// Parses a command line. `--help`, `--version` and `--completion` win over everything else, even errors.
    ///
    /// - Parameter arguments: without the program's own name.
    public func parse(arguments: [String], environment: [String: String] = [:]) throws(FlagError) -> Invocation {
        if arguments.first == "__complete" { return .text(completions(of: Array(arguments.dropFirst()))) }
        let flagWords = arguments.prefix { $0 != "--" }
        let names = flagWords.map(\.beforeEqualsSign)
        if names.contains("--help") || names.contains("-h") || arguments.first == "help" {
            return .text(helpText(for: flagWords.lazy.compactMap(command(named:)).first))
        }
        if names.contains("--version") || arguments.first == "version" { return .text(version) }
        if let place = names.firstIndex(of: "--completion") {
            let shell = flagWords[place].dropping(prefix: "--completion=") ?? flagWords[(place + 1)...].first
            guard let shell else { throw FlagError("--completion: the value is missing, expected --completion=SHELL") }
            guard let script = completion(for: shell) else {
                throw FlagError("--completion \(quoted(shell)): expected bash, zsh or fish")
            }
            return .text(script)
        }

        var words = Words(program: self)
        try words.read(arguments)
        var operands = words.operands[...]
        var command = commands[0]
        if let named = operands.first.flatMap({ self.command(named: $0.text) }) {
            command = named
            operands = operands.dropFirst()
        }
        let variables = variables(of: command, in: environment)
        let flags = ParsedFlags(
            command: command, operands: operands.map(\.text), unknownVariables: unknownVariables(in: environment),
            given: words.given.merging(variables) { flag, _ in flag })
        try check(words.given.keys.sorted(), operands, of: flags)
        return .run(flags)
    }

    private func check(
        _ given: [String], _ operands: ArraySlice<Words.Operand>, of flags: ParsedFlags
    ) throws(FlagError) {
        let command = flags.command
        for flag in given where !command.flags.contains(where: { $0.name == flag }) {
            if operands.isEmpty, let operand = command.operands.first {
                throw FlagError(
                    "--\(flag): not a flag of \(command.name), which takes \(operand) as an argument, expected: \(usage(of: command))"
                )
            }
            let owners = commands.filter { $0.flags.contains { $0.name == flag } }
                .map { $0.name.isEmpty ? self.name : $0.name }.joined(separator: ", ")
            let advice = advice(for: "--" + flag).map { $0.contains("--" + flag) ? "" : "; \($0)" } ?? ""
            let name = command.name.isEmpty ? name : command.name
            throw FlagError("--\(flag): not a flag of \(name), only of \(owners)\(advice)")
        }
        if operands.count < command.operands.count {
            let missing = command.operands[operands.count]
            throw FlagError("\(missing) is missing, expected: \(usage(of: command))\(flags.misspeltVariables)")
        }
        guard let surplus = operands.dropFirst(command.operands.count).first else { return }
        let hint = surplus.isOpen ? hint(for: surplus, of: command) : nil
        throw FlagError("unexpected argument \(surplus.shown): \(hint ?? "expected: \(usage(of: command))")")
    }

    /// Returns the end of an error about a surplus operand: what was probably meant.
    private func hint(for operand: Words.Operand, of command: Command) -> String? {
        let text = operand.text
        if text.isEmpty { return "an empty argument: a shell variable may be unset" }
        if text.hasPrefix("--") { return "flags must come before --" }
        if self.command(named: text) != nil { return "expected one command" }
        if let first = text.split(separator: " ").first, self.command(named: String(first)) != nil {
            return "expected separate arguments; do not quote them together"
        }
        let name = text.beforeEqualsSign
        let isAssignment = name != text && name.allSatisfy { $0.isLetter || $0.isNumber || "._-".contains($0) }
        if isAssignment, name.hasPrefix(environmentPrefix) { return "did you mean \(name)=… \(self.name)?" }
        let assigned = isAssignment ? nearest(to: folded(name), among: command.flags.map(\.name)) : []
        if assigned.count == 1 { return "did you mean --\(assigned[0])=…?" }
        if let advice = advice(for: name) { return advice }
        if text.contains("://"), let flag = command.flags.first(where: { $0.secrecy == .address }) {
            return "did you mean --\(flag.name) \(operand.shown)?"
        }
        let isPort = (text.split(separator: ":").last ?? "").utf8.allSatisfy(isDigit)
        if isPort, let flag = command.flags.first(where: { $0.name.hasSuffix("listen-address") || $0.name == "listen" })
        {
            return "did you mean --\(flag.name)=\(text.contains(":") ? text : ":" + text)?"
        }
        let commandNames = commands.map(\.name).filter { !$0.isEmpty }
        if let meant = nearest(to: text, among: commandNames).first { return "did you mean \(meant)?" }
        return hint(for: name, of: command)
    }

    private func variables(of command: Command, in environment: [String: String]) -> [String: GivenFlag] {
        var given: [String: GivenFlag] = [:]
        for flag in command.flags {
            let variable = flag.variable(prefix: environmentPrefix)
            guard let text = environment[variable], !text.isEmpty else { continue }
            let values = flag.isRepeatable ? text.split { $0 == "\n" || $0 == "\r\n" }.map(String.init) : [text]
            if !values.isEmpty { given[flag.name] = GivenFlag(values: values, origin: variable) }
        }
        return given
    }

    /// Returns, sorted, the variables with the prefix (in any case, with any underscores) that match no flag, except
    /// those that Kubernetes injects for services.
    private func unknownVariables(in environment: [String: String]) -> [String] {
        let prefix = environmentPrefix.filter { $0 != "_" }
        func hasPrefix(_ name: String) -> Bool {
            let words = name.uppercased().split(separator: "_")
            return words.indices.contains { words[...$0].joined() == prefix }
        }
        let known = Set(commands.flatMap(\.flags).map { $0.variable(prefix: environmentPrefix) } + otherVariables)
        return environment.keys.filter { name in
            hasPrefix(name) && !known.contains(name) && !"\(name)_".contains("_PORT_") && !name.contains("_SERVICE_")
        }.sorted()
    }
}
