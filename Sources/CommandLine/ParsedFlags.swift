/// The flags of a command line that is well formed; a value is checked when it is asked for.
///
/// Asking for a flag that the command does not have is a mistake in the program and traps.
public struct ParsedFlags: Sendable {
    public let command: Command
    /// As many as the command names.
    public let operands: [String]
    private let given: [String: GivenFlag]

    init(command: Command, operands: [String], given: [String: GivenFlag]) {
        self.command = command
        self.operands = operands
        self.given = given
    }

    /// Whether the command line or the environment has the flag; a default does not count.
    public func isGiven(_ name: String) -> Bool {
        given[flag(name).name] != nil
    }

    /// Whether the switch is on.
    public func isOn(_ name: String) throws(FlagError) -> Bool {
        precondition(flag(name).isSwitch, "--\(name) takes a value")
        return try values(name, as: .boolean).last ?? false
    }

    /// The value of a flag that has a default.
    public func value<Value>(_ name: String, as format: ValueFormat<Value>) throws(FlagError) -> Value {
        guard let value = try optional(name, as: format) else { preconditionFailure("--\(name) has no default") }
        return value
    }

    /// The value of a flag, nil when it is not given and has no default.
    public func optional<Value>(_ name: String, as format: ValueFormat<Value>) throws(FlagError) -> Value? {
        try values(name, as: format).last
    }

    /// The values of a repeatable flag, in the order in which they are given.
    public func values<Value>(_ name: String, as format: ValueFormat<Value>) throws(FlagError) -> [Value] {
        let flag = flag(name)
        var values: [Value] = []
        for text in given[name]?.values ?? (flag.defaultText.map { [$0] } ?? []) {
            guard let value = format.parse(text) else { throw refusal(of: name, text, expected: format.expected) }
            values.append(value)
        }
        return values
    }

    /// The error for a value of a flag that is well formed and still not usable, or not together with others.
    /// - Parameters:
    ///   - text: the value, when the flag has several; nil = the one given.
    ///   - expected: what would be right; secrets of the value must not be repeated in it.
    public func refusal(of name: String, _ text: String? = nil, expected: String) -> FlagError {
        let flag = flag(name)
        let origin = given[name]?.origin ?? "--" + name
        guard let text = text ?? given[name]?.values.last ?? flag.defaultText, !flag.isSwitch || text != "true" else {
            return FlagError("\(origin): expected \(expected)")
        }
        return FlagError("\(origin) \(flag.shown(text)): expected \(expected)")
    }

    private func flag(_ name: String) -> Flag {
        guard let flag = command.flags.first(where: { $0.name == name }) else {
            preconditionFailure("--\(name) is not a flag of \(command.name)")
        }
        return flag
    }
}
