/// A row of the table of a command's flags.
public struct Flag<Values: Options>: Sendable {
    private(set) var spec: FlagSpec
    /// Stores the value of the texts; else returns the text that is rejected, and what was expected.
    let store: @Sendable (_ texts: [String], _ values: inout Values) -> (text: String, expected: String)?

    /// A flag with one value.
    public init<Value>(
        _ name: String, _ member: any WritableKeyPath<Values, Value> & Sendable, _ format: ValueFormat<Value>,
        placeholder: String? = nil, secrecy: Secrecy = .open, _ help: String
    ) {
        spec = FlagSpec(
            name: name, placeholder: placeholder ?? format.placeholder,
            defaultText: format.text?(Values()[keyPath: member]), help: help, choices: format.choices, secrecy: secrecy)
        store = { texts, values in
            guard let text = texts.last else { return nil }
            guard let value = format.parse(text) else { return (text, format.expected(text)) }
            values[keyPath: member] = value
            return nil
        }
    }

    /// A flag that may have no value.
    public init<Value>(
        _ name: String, _ member: any WritableKeyPath<Values, Value?> & Sendable, _ format: ValueFormat<Value>,
        placeholder: String? = nil, secrecy: Secrecy = .open, _ help: String
    ) {
        let optional = ValueFormat<Value?>(
            format.placeholder, expected: format.expected, choices: format.choices
        ) { text in format.parse(text).map(Optional.some) }
        self.init(name, member, optional, placeholder: placeholder, secrecy: secrecy, help)
    }

    /// A repeatable flag. Values that are given replace the default.
    ///
    /// - Parameter isList: whether one text may have several values, separated by commas.
    public init<Value>(
        _ name: String, _ member: any WritableKeyPath<Values, [Value]> & Sendable, _ format: ValueFormat<Value>,
        placeholder: String? = nil, secrecy: Secrecy = .open, isList: Bool = false, _ help: String
    ) {
        spec = FlagSpec(
            name: name, placeholder: placeholder ?? format.placeholder,
            defaultText: Values()[keyPath: member].first.flatMap { format.text?($0) }, help: help,
            choices: format.choices, secrecy: secrecy, isRepeatable: true)
        store = { texts, values in
            var parsed: [Value] = []
            let texts = isList ? texts.flatMap { $0.split(separator: ",").map(String.init) } : texts
            for text in texts {
                guard let value = format.parse(text) else { return (text, format.expected(text)) }
                parsed.append(value)
            }
            values[keyPath: member] = parsed
            return nil
        }
    }

    /// A switch: off unless it is given as `--name` or `--name=true`.
    public init(_ name: String, _ member: any WritableKeyPath<Values, Bool> & Sendable, _ help: String) {
        self.init(name, member, .boolean, help)
        spec.placeholder = nil
        spec.defaultText = nil
    }

    /// A flag of a member that has a table of its own.
    public init<Inner>(
        _ flag: Flag<Inner>, of member: any WritableKeyPath<Values, Inner> & Sendable, prefix: String = ""
    ) {
        spec = flag.spec
        spec.name = prefix + spec.name
        store = { flag.store($0, &$1[keyPath: member]) }
    }

    /// As on the command line, without the dashes.
    public var name: String { spec.name }
}
