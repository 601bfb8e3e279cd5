internal import Bytes

extension Program {
    /// Reads a command line. `--help`, `--version` and `--completion` win over everything else, right or wrong.
    /// - Parameters:
    ///   - arguments: without the program's own name.
    ///   - environment: all variables.
    public func parse(arguments: [String], environment: [String: String] = [:]) throws(FlagError) -> Invocation {
        if arguments.first == "__complete" { return .text(completions(of: Array(arguments.dropFirst()))) }
        let flagWords = arguments.prefix { $0 != "--" }
        if flagWords.contains("--help") || flagWords.contains("-h") || arguments.first == "help" {
            let words = arguments.drop { $0 == "help" }
            return .text(helpText(for: words.first.flatMap(command(named:))))
        }
        if flagWords.contains("--version") || arguments.first == "version" { return .version }
        if let shell = try shell(in: flagWords) { return .text(completion(for: shell)) }

        var words = Words(program: self)
        try words.read(arguments)
        var operands = words.operands[...]
        var command = commands[0]
        if let named = operands.first.flatMap({ self.command(named: $0.text) }) {
            command = named
            operands = operands.dropFirst()
        }
        try check(words.order, operands, of: command)
        let variables = variables(of: command, in: environment)
        return .run(
            ParsedFlags(
                command: command, operands: operands.map(\.text), unknownVariables: unknownVariables(in: environment),
                given: words.given.merging(variables) { flag, _ in flag }))
    }

    /// The shell that `--completion` names, if given.
    private func shell(in words: ArraySlice<String>) throws(FlagError) -> Shell? {
        guard let place = words.firstIndex(where: { $0 == "--completion" || $0.hasPrefix("--completion=") })
        else { return nil }
        let word = words[place]
        let name = word.utf8.count > 12 ? String(word.dropFirst(13)) : words[(place + 1)...].first
        guard let name else { throw FlagError("--completion: the value is missing, expected --completion=SHELL") }
        guard let shell = Shell(rawValue: name) else {
            throw FlagError("--completion \(quoted(name)): expected bash, zsh or fish")
        }
        return shell
    }

    private func check(
        _ flags: [String], _ operands: ArraySlice<Words.Operand>, of command: Command
    ) throws(FlagError) {
        for flag in flags where !command.flags.contains(where: { $0.name == flag }) {
            let owners = commands.filter { $0.flags.contains { $0.name == flag } }.map(\.name)
            throw FlagError("--\(flag): not a flag of \(command.name), only of \(owners.joined(separator: ", "))")
        }
        if operands.count < command.operands.count {
            throw FlagError("\(command.operands[operands.count].name) is missing, expected: \(usage(of: command))")
        }
        if let surplus = operands.dropFirst(command.operands.count).first { throw unexpected(surplus, of: command) }
    }

    private func unexpected(_ operand: Words.Operand, of command: Command) -> FlagError {
        let names = commands.map(\.name).filter { !$0.isEmpty }
        let isAddress = operand.text.contains("://")
        if isAddress, let flag = command.flags.first(where: { $0.secrecy == .address }) {
            return FlagError("unexpected argument \(operand.shown), did you mean --\(flag.name) \(operand.shown)?")
        }
        let flags = command.flags.map(\.name).filter { $0 == operand.text || $0.hasSuffix("." + operand.text) }
        let meant = nearest(to: operand.text, among: names).prefix(1) + flags.map { "--" + $0 }
        if operand.isOpen, !meant.isEmpty {
            return FlagError("unexpected argument \(operand.shown), did you mean \(meant.joined(separator: " or "))?")
        }
        return FlagError("unexpected argument \(operand.shown), expected: \(usage(of: command))")
    }

    private func variables(of command: Command, in environment: [String: String]) -> [String: GivenFlag] {
        guard let environmentPrefix else { return [:] }
        var given: [String: GivenFlag] = [:]
        for flag in command.flags {
            let variable = flag.variable(prefix: environmentPrefix)
            guard let text = environment[variable], !text.isEmpty else { continue }
            let values = flag.isRepeatable ? text.split(separator: "\n").map(String.init) : [text]
            given[flag.name] = GivenFlag(values: values, origin: variable)
        }
        return given
    }

    /// Those with the prefix that name no flag, sorted; but for those that Kubernetes injects for services.
    private func unknownVariables(in environment: [String: String]) -> [String] {
        guard let environmentPrefix else { return [] }
        let known = Set(commands.flatMap(\.flags).map { $0.variable(prefix: environmentPrefix) } + otherVariables)
        return environment.keys.filter { name in
            name.hasPrefix(environmentPrefix) && !known.contains(name)
                && !("_" + name.dropFirst(environmentPrefix.count) + "_").contains("_PORT_")
                && !("_" + name.dropFirst(environmentPrefix.count)).contains("_SERVICE_")
        }.sorted()
    }
}

/// The flags of a command line that is well formed; their values are checked when the options are asked for.
public struct ParsedFlags: Sendable {
    public let command: Command
    /// As many as the command names.
    public let operands: [String]
    /// Variables that look like those of flags, and of which there are none.
    public let unknownVariables: [String]
    fileprivate let given: [String: GivenFlag]

    /// The values, those that are not given by their defaults. The command's table must be that of these options.
    public func options<Values: Options>(_: Values.Type = Values.self) throws(FlagError) -> Values {
        var values = Values()
        for flag in Values.flags {
            guard let given = given[flag.name], let refused = flag.store(given.values, &values) else { continue }
            throw refusal(of: flag.name, refused.text, expected: refused.expected)
        }
        return values
    }

    /// Whether the command line or the environment has the member's flag.
    public func isGiven<Values: Options>(_ member: PartialKeyPath<Values>) -> Bool {
        given[Values.name(of: member)] != nil
    }

    /// Name of the member's flag in an error: the flag, or the variable that has its value.
    public func origin<Values: Options>(of member: PartialKeyPath<Values>) -> String {
        given[Values.name(of: member)]?.origin ?? Values.flag(member)
    }

    /// The error for a value that is well formed and still not usable, or not together with others.
    /// - Parameters:
    ///   - index: which one, when the flag has several values.
    ///   - expected: what would be right; secrets of the value must not be repeated in it.
    public func refusal<Values: Options>(
        of member: PartialKeyPath<Values>, at index: Int? = nil, expected: String
    ) -> FlagError {
        let name = Values.name(of: member)
        return refusal(of: name, index.flatMap { given[name]?.values[$0] }, expected: expected)
    }

    private func refusal(of name: String, _ text: String?, expected: String) -> FlagError {
        let flag = command.flags.first { $0.name == name }
        let origin = given[name]?.origin ?? "--" + name
        guard let flag, let text = text ?? given[name]?.values.last ?? flag.defaultText,
            !flag.isSwitch || text != "true"
        else { return FlagError("\(origin): expected \(expected)") }
        return FlagError("\(origin) \(flag.shown(text)): expected \(expected)")
    }
}

/// The values of one flag and where they come from: `--flag`, or a variable's name.
private struct GivenFlag: Sendable {
    var values: [String]
    var origin: String
}

/// The words of a command line, sorted into flags and operands.
private struct Words {
    struct Operand {
        var text: String
        var shown: String
        /// Not secret.
        var isOpen: Bool
    }

    let program: Program
    var given: [String: GivenFlag] = [:]
    /// The given flags, in the order of their first use.
    var order: [String] = []
    var operands: [Operand] = []
    /// The next operand may be the rest of a secret value with blanks that the shell's user did not quote.
    private var mayContinueSecret = false

    init(program: Program) { self.program = program }

    mutating func read(_ arguments: [String]) throws(FlagError) {
        var rest = arguments[...]
        while let word = rest.popFirst() {
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
        let shown = mayContinueSecret ? "***" : quoted(masked(address: operand))
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
        if given[flag.name] == nil {
            order.append(flag.name)
        } else if !flag.isRepeatable && !flag.isSwitch {
            throw FlagError("\(parts[0]) \(flag.shown(value)): given twice, expected once")
        }
        given[flag.name, default: GivenFlag(values: [], origin: parts[0])].values.append(value)
    }

    /// The value is left out: it may be a secret of the flag that was meant.
    private func unknown(_ word: String) -> FlagError {
        let name = String(word.drop { $0 == "-" })
        let command = operands.first.flatMap { program.command(named: $0.text) }
        if let command, command.operands.contains(where: { $0.name.lowercased() == name }) {
            return FlagError("unknown flag \(quoted(word)), expected: \(program.usage(of: command))")
        }
        let flags = command?.flags ?? program.commands.flatMap(\.flags)
        var meant = nearest(to: name, among: flags.map(\.name))
        if meant.isEmpty, name.utf8.count > 2 {
            // A word of its explanation, as `port`.
            meant = unique(flags.filter { $0.help.split { !$0.isLetter }.contains { $0 == name } }.map(\.name))
        }
        let shown = meant.prefix(3).map { "--" + $0 }.joined(separator: " or ")
        let hint = meant.isEmpty ? "expected one that --help lists" : "did you mean \(shown)?"
        return FlagError("unknown flag \(quoted(word)), \(hint)")
    }
}

/// The names that may have been meant, by their ends, their beginnings, or few wrong letters; none where there is no
/// such name.
private func nearest(to word: String, among names: [String]) -> [String] {
    guard !word.isEmpty, word.utf8.count <= 64 else { return [] }
    let names = unique(names)
    func parts(_ name: String, _ separators: String) -> [Substring] { name.split { separators.contains($0) } }
    let rules: [(String) -> Bool] = [
        { $0 == word || parts($0, ".").last.map(String.init) == word },
        { parts($0, ".-").contains { $0 == word } },
        { $0.hasPrefix(word) || word.utf8.count > 1 && parts($0, ".-").contains { $0.hasPrefix(word) } },
        { word.utf8.count > 2 && $0.hasSuffix(word) },
    ]
    for rule in rules {
        let meant = names.filter(rule)
        if !meant.isEmpty { return meant }
    }
    let distances = names.map { (name: $0, distance: distance(word, $0)) }
    let limit = word.utf8.count < 4 ? 1 : max(2, word.utf8.count / 4)
    return distances.min { $0.distance < $1.distance }.flatMap { $0.distance <= limit ? [$0.name] : nil } ?? []
}

private func unique(_ names: [String]) -> [String] {
    names.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
}

/// The Levenshtein distance: how many bytes must be added, removed or replaced.
private func distance(_ one: String, _ other: String) -> Int {
    let other = Array(other.utf8)
    var row = Array(0...other.count)
    for (line, character) in one.utf8.prefix(64).enumerated() {
        var diagonal = row[0]
        row[0] = line + 1
        for column in other.indices {
            let replaced = diagonal + (character == other[column] ? 0 : 1)
            diagonal = row[column + 1]
            row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
        }
    }
    return row[other.count]
}
