internal import Bytes

extension Program {
    /// Parses a command line. `--help` and `--version` win over everything else, even errors.
    ///
    /// - Parameter arguments: without the program's own name.
    public func parse(arguments: [String], environment: [String: String] = [:]) throws(FlagError) -> Invocation {
        if let text = requestedText(arguments) { return .text(text) }
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

    /// Returns the text that the arguments request instead of a command; `nil` if they request none.
    private func requestedText(_ arguments: [String]) -> String? {
        let flagWords = arguments.prefix { $0 != "--" }
        let names = flagWords.map(\.beforeEqualsSign)
        if names.contains("--help") || names.contains("-h") || arguments.first == "help" {
            return helpText(for: flagWords.lazy.compactMap(command(named:)).first)
        }
        return names.contains("--version") || arguments.first == "version" ? version : nil
    }

    private func check(
        _ given: [String], _ operands: ArraySlice<Words.Operand>, of flags: ParsedFlags
    ) throws(FlagError) {
        let command = flags.command
        if let flag = given.first(where: { !command.has($0) }) {
            func shownName(_ command: Command) -> String { command.name.isEmpty ? name : command.name }
            var problem = "--\(flag): not a flag of \(shownName(command)), "
            if operands.isEmpty, let operand = command.operands.first {
                throw FlagError(problem + "which takes \(operand) as an argument, expected: \(usage(of: command))")
            }
            problem += "only of " + commands.filter { $0.has(flag) }.map(shownName).joined(separator: ", ")
            if let advice = advice(for: "--" + flag), !advice.contains("--" + flag) { problem += "; \(advice)" }
            throw FlagError(problem)
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
        if name != text, let hint = hint(forAssignmentTo: name, of: command) { return hint }
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

    /// Returns what was probably meant by `NAME=…`: an environment variable, or a flag without its dashes.
    private func hint(forAssignmentTo name: String, of command: Command) -> String? {
        guard name.allSatisfy({ $0.isLetter || $0.isNumber || "._-".contains($0) }) else { return nil }
        if name.hasPrefix(environmentPrefix) { return "did you mean \(name)=… \(self.name)?" }
        let flags = nearest(to: folded(name), among: command.flags.map(\.name))
        return flags.count == 1 ? "did you mean --\(flags[0])=…?" : nil
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
