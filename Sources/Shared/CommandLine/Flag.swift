/// A flag of a command, bound to a property of its options.
public struct Flag<Values: Options>: Sendable {
    private(set) var spec: FlagSpec
    /// Parses and stores the texts.
    let store: @Sendable (_ texts: [String], _ values: inout Values) throws(RejectedText) -> Void
    /// Returns the property's value as a user would write it, if its format can be written.
    let text: @Sendable (_ values: Values) -> String?

    /// Creates a flag with one value.
    public init<Value>(
        _ name: String, _ member: any WritableKeyPath<Values, Value> & Sendable, _ format: ValueFormat<Value>,
        placeholder: String? = nil, secrecy: Secrecy = .open, _ help: String
    ) {
        text = { format.text?($0[keyPath: member]) }
        spec = FlagSpec(
            name: name, placeholder: placeholder ?? format.placeholder, defaultText: text(Values()), help: help,
            choices: format.choices, secrecy: secrecy)
        store = { texts, values throws(RejectedText) in
            guard let text = texts.last else { return }
            values[keyPath: member] = try format.read(text)
        }
    }

    /// Creates a flag with an optional value.
    public init<Value>(
        _ name: String, _ member: any WritableKeyPath<Values, Value?> & Sendable, _ format: ValueFormat<Value>,
        placeholder: String? = nil, secrecy: Secrecy = .open, _ help: String
    ) {
        let optional = ValueFormat<Value?>(format.placeholder, choices: format.choices, read: format.read)
        self.init(name, member, optional, placeholder: placeholder, secrecy: secrecy, help)
    }

    /// Creates a repeatable flag. Values given by the user replace the default.
    ///
    /// - Parameter isList: whether one text may contain several values, separated by commas.
    public init<Value>(
        _ name: String, _ member: any WritableKeyPath<Values, [Value]> & Sendable, _ format: ValueFormat<Value>,
        placeholder: String? = nil, secrecy: Secrecy = .open, isList: Bool = false, _ help: String
    ) {
        text = { $0[keyPath: member].first.flatMap { format.text?($0) } }
        spec = FlagSpec(
            name: name, placeholder: placeholder ?? format.placeholder, defaultText: text(Values()), help: help,
            choices: format.choices, secrecy: secrecy, isRepeatable: true)
        store = { texts, values throws(RejectedText) in
            let texts = isList ? texts.flatMap { $0.split(separator: ",").map(String.init) } : texts
            values[keyPath: member] = try texts.map(format.read)
        }
    }

    /// Creates a switch: off unless given as `--name` or `--name=true`.
    public init(_ name: String, _ member: any WritableKeyPath<Values, Bool> & Sendable, _ help: String) {
        self.init(name, member, .boolean, help)
        spec.placeholder = nil
        spec.defaultText = nil
    }

    /// Adopts a flag of nested options, which have a table of their own.
    public init<Inner>(
        _ flag: Flag<Inner>, of member: any WritableKeyPath<Values, Inner> & Sendable, prefix: String = ""
    ) {
        spec = flag.spec
        spec.name = prefix + spec.name
        store = { texts, values throws(RejectedText) in try flag.store(texts, &values[keyPath: member]) }
        text = { flag.text($0[keyPath: member]) }
    }

    /// The name without its dashes.
    public var name: String { spec.name }

    /// Whether errors must mask the value, or a part of it.
    public var isSecret: Bool { spec.secrecy != .open }

    /// Sets the property from texts of another origin than the command line, such as a file.
    public func set(_ texts: [String], in values: inout Values) throws(RejectedText) {
        if texts.count > 1, !spec.isRepeatable { throw RejectedText(texts[1], expected: "one value") }
        try store(texts, &values)
    }
}
