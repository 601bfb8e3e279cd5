public import System

/// The flags of a command line that is well formed; their values are checked when the options are asked for.
public struct ParsedFlags: Sendable {
    public let command: Command
    /// As many as the command names.
    public let operands: [String]
    /// Variables that look like those of flags, and of which there are none.
    public let unknownVariables: [String]
    let given: [String: GivenFlag]

    /// The end of an error about a missing value: variables that may have been meant to give it; empty without any.
    public var misspeltVariables: String {
        unknownVariables.isEmpty
            ? "" : "; no flag has the variable " + unknownVariables.prefix(3).joined(separator: ", ")
    }

    /// The values, those that are not given by their defaults. The command's table must be that of these options.
    public func options<Values: Options>(_: Values.Type = Values.self) throws(FlagError) -> Values {
        var values = Values()
        for flag in Values.flags {
            guard let given = given[flag.name], let rejected = flag.store(given.values, &values) else { continue }
            throw rejection(of: flag.name, rejected.text, expected: rejected.expected)
        }
        return values
    }

    /// Whether the command line or the environment has the flag, which is named without its dashes.
    public func isGiven(_ flag: String) -> Bool { given[flag] != nil }

    /// The flags of the command line, but for some, as words of another one. Those of variables are not among them.
    public func words(without others: Set<String>) -> [String] {
        command.flags.filter { origin(of: $0.name).hasPrefix("--") && !others.contains($0.name) }.flatMap { flag in
            (given[flag.name]?.values ?? []).map { "--\(flag.name)=\($0)" }
        }
    }

    /// Name of the flag in an error: the flag with its dashes, or the variable that has its value.
    public func origin(of flag: String) -> String { given[flag]?.origin ?? "--" + flag }

    /// The error for a value that is well formed and still not usable, or not together with others.
    ///
    /// - Parameters:
    ///   - index: which one, when the flag has several values.
    ///   - expected: what would be right; secrets of the value must not be repeated in it.
    public func rejection(of flag: String, at index: Int? = nil, expected: String) -> FlagError {
        rejection(of: flag, index.flatMap { given[flag]?.values[$0] }, expected: expected)
    }

    /// The result of what the flag's value is for; its error becomes the flag's, behind what was expected.
    public func using<Result: ~Copyable>(
        _ flag: String, expected: String, _ result: @autoclosure () throws -> Result
    ) throws(FlagError) -> Result {
        do { return try result() } catch {
            throw rejection(of: flag, expected: "\(expected): \(error)")
        }
    }

    private func rejection(of name: String, _ text: String?, expected: String) -> FlagError {
        let flag = command.flags.first { $0.name == name }
        guard let flag, let text = text ?? given[name]?.values.last ?? flag.defaultText,
            !flag.isSwitch || text != "true"
        else {
            return FlagError(
                "\(origin(of: name)): expected \(expected)" + (given[name] == nil ? misspeltVariables : ""))
        }
        return FlagError("\(origin(of: name)) \(flag.shown(text)): expected \(expected)")
    }

    public func logUnknownVariables(to logger: Logger) {
        guard !unknownVariables.isEmpty else { return }
        logger.warning(
            "Variables that name no flag are ignored", metadata: ["variables": unknownVariables.joined(separator: " ")])
    }
}
