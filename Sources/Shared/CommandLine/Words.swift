internal import Bytes

/// The words of a command line, sorted into flags and operands.
struct Words {
    struct Operand {
        var text: String
        var shown: String
        /// Not secret.
        var isOpen: Bool
    }

    let program: Program
    var given: [String: GivenFlag] = [:]
    var operands: [Operand] = []
    /// The next operand may be the rest of a secret value with blanks that the shell's user did not quote.
    private var mayContinueSecret = false

    init(program: Program) { self.program = program }

    mutating func read(_ arguments: [String]) throws(FlagError) {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if beginsWithTypographicDash(word) { throw typographic(word) }
            if word == "--" {
                for word in rest { append(operand: word) }
                return
            }
            if word.hasPrefix("-"), word != "-" {
                try read(flag: word, rest: &rest)
            } else {
                append(operand: word)
            }
        }
    }

    private mutating func append(operand: String) {
        let name = String(operand.prefix { $0 != "=" })
        let isSecretFlag = program.flag("--" + name)?.secrecy == .whole
        let shown =
            mayContinueSecret ? "***" : quoted(isSecretFlag ? name + "=***" : masked(address: operand))
        operands.append(Operand(text: operand, shown: shown, isOpen: !mayContinueSecret))
    }

    private mutating func read(flag word: String, rest: inout ArraySlice<String>) throws(FlagError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let known = program.commands.lazy.flatMap(\.flags)
        guard parts[0].hasPrefix("--"), let flag = known.first(where: { "--" + $0.name == parts[0] }) else {
            throw unknown(parts[0])
        }
        var value = parts.count > 1 ? parts[1] : nil
        if flag.isSwitch {
            let isSpelledOut = value == nil && ["true", "false"].contains(rest.first?.lowercased())
            value = value ?? (isSpelledOut ? rest.popFirst() : "true")
        } else if value == nil, let next = rest.first, !next.hasPrefix("--") {
            value = rest.popFirst()
        }
        guard let value else {
            throw FlagError("\(parts[0]): the value is missing, expected \(parts[0])=\(flag.placeholder ?? "")")
        }
        mayContinueSecret = flag.secrecy == .whole
        if given[flag.name] != nil, !flag.isRepeatable, !flag.isSwitch {
            throw FlagError("\(parts[0]) \(flag.shown(value)): given twice, expected once")
        }
        given[flag.name, default: GivenFlag(values: [], origin: parts[0])].values.append(value)
    }

    private func typographic(_ word: String) -> FlagError {
        // The value is left out: it may be secret.
        let shown = String(word.prefix { $0 != "=" })
        let name = shown.drop { !$0.isLetter }
        return FlagError("\(quoted(shown)) begins with a dash that is not \"-\", did you mean --\(name)?")
    }

    /// The value is left out: it may be a secret of the flag that was meant.
    private func unknown(_ word: String) -> FlagError {
        let command = operands.first.flatMap { program.command(named: $0.text) }
        if let operand = operands.first, operand.isOpen, command == nil, let advice = program.advice(for: operand.text)
        {
            return FlagError("unexpected argument \(operand.shown), \(advice)")
        }
        let hint = program.hint(for: word, of: command) ?? "expected one that --help lists"
        return FlagError("unknown flag \(quoted(word)), \(hint)")
    }
}
