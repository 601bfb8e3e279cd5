internal import Bytes

/// The words of a command line, split into flags and operands.
struct Words {
    struct Operand {
        var text: String
        /// The text with secrets masked, for errors.
        var shown: String
        /// Whether the text is not secret.
        var isOpen: Bool
    }

    let program: Program
    var given: [String: GivenFlag] = [:]
    var operands: [Operand] = []
    /// Whether the next operand may be the rest of a secret value with blanks that the user did not quote.
    var mayContinueSecret = false

    mutating func read(_ arguments: [String]) throws(FlagError) {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word == "--" {
                for word in rest { append(operand: word) }
                return
            }
            // A base64url token may begin with a dash, but has no dot and is longer than `-v`.
            let mayBeToken = mayContinueSecret && word.utf8.count > 2 && !word.hasPrefix("--") && !word.contains(".")
            if word.hasPrefix("-"), word != "-", !mayBeToken {
                try read(flag: word, rest: &rest)
            } else {
                append(operand: word)
            }
        }
    }

    private mutating func append(operand: String) {
        if mayContinueSecret { return operands.append(Operand(text: operand, shown: "***", isOpen: false)) }
        let name = operand.beforeEqualsSign
        let isSecretFlag = program.flag("--" + name)?.secrecy == .whole
        let shown = isSecretFlag ? name + "=***" : masked(address: operand)
        operands.append(Operand(text: operand, shown: quoted(shown), isOpen: true))
    }

    private mutating func read(flag word: String, rest: inout ArraySlice<String>) throws(FlagError) {
        let name = word.beforeEqualsSign
        var value = word.dropping(prefix: name + "=")
        guard let flag = program.flag(name) else { throw unknown(name) }
        if flag.isSwitch {
            let isSpelledOut = value == nil && ["true", "false"].contains(rest.first?.lowercased())
            value = value ?? (isSpelledOut ? rest.popFirst() : "true")
        } else if value == nil, let next = rest.first, !next.hasPrefix("--") {
            value = rest.popFirst()
        }
        guard let value else {
            throw FlagError("\(name): the value is missing, expected \(name)=\(flag.placeholder ?? "")")
        }
        let otherWords = value.split(separator: " ").dropFirst().map { String($0).beforeEqualsSign }
        if let other = otherWords.first(where: { program.flag($0) != nil }) {
            throw FlagError("\(name): the value contains \(other), expected separate arguments")
        }
        mayContinueSecret = flag.secrecy == .whole
        if given[flag.name] != nil, !flag.isRepeatable, !flag.isSwitch {
            throw FlagError("\(name) \(flag.shown(value)): given twice, expected once")
        }
        given[flag.name, default: GivenFlag(values: [], origin: name)].values.append(value)
    }

    /// Returns the error about an unknown flag, without its value, which may be a secret of the flag that was meant.
    private func unknown(_ word: String) -> FlagError {
        let name = String(word.prefix { $0 != ":" && !$0.isWhitespace })
        if name != word, program.flag(name) != nil {
            return FlagError("\(name) and its value are one argument, expected two; do not quote them together")
        }
        let command = operands.first.flatMap { program.command(named: $0.text) }
        if let operand = operands.first, operand.isOpen, command == nil, let advice = program.advice(for: operand.text)
        {
            return FlagError("unexpected argument \(operand.shown): \(advice)")
        }
        let hint = program.hint(for: name, of: command) ?? "expected one that --help lists"
        return FlagError("unknown flag \(quoted(name)): \(hint)")
    }
}
