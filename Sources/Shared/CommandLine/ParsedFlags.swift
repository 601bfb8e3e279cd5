internal import Bytes

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
        else {
            return FlagError("\(origin): expected \(expected)" + (given[name] == nil ? misspeltVariables : ""))
        }
        return FlagError("\(origin) \(flag.shown(text)): expected \(expected)")
    }
}

/// The values of one flag and where they come from: `--flag`, or a variable's name.
struct GivenFlag: Sendable {
    var values: [String]
    var origin: String
}
