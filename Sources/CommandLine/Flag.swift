internal import Bytes

/// The values of a command's flags, as the command uses them.
///
/// Its members are declared with the defaults; its table says which flag goes to which member. Parsing, the environment,
/// `--help`, the README and the errors all come from the table.
public protocol Options: Sendable {
    /// All defaults.
    init()
    static var flags: [Flag<Self>] { get }
    /// The heading in `--help` under which flags stand whose names begin with this word and a dot.
    static var headings: [String: String] { get }
}

extension Options {
    public static var headings: [String: String] { [:] }
}

/// A row of the table of a command's flags.
public struct Flag<Values>: Sendable {
    typealias Member = PartialKeyPath<Values> & Sendable

    let member: any Member
    private var spec: FlagSpec
    private let defaultText: @Sendable (Values) -> String?
    /// Stores what the texts stand for; else says which of them is refused, and what was expected.
    let store: @Sendable (_ texts: [String], _ values: inout Values) -> (text: String, expected: String)?

    /// A flag whose value is one.
    public init<Value>(
        _ name: String, _ member: any WritableKeyPath<Values, Value> & Sendable, _ format: ValueFormat<Value>,
        placeholder: String? = nil, secrecy: Secrecy = .open, _ help: String
    ) {
        self.member = member
        spec = FlagSpec(name, placeholder ?? format.placeholder, secrecy, help)
        defaultText = { format.text?($0[keyPath: member]) }
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
        let optional = ValueFormat<Value?>(format.placeholder, expected: format.expected) { text in
            format.parse(text).map(Optional.some)
        }
        self.init(name, member, optional, placeholder: placeholder, secrecy: secrecy, help)
    }

    /// A repeatable flag. Values that are given replace the default.
    public init<Value>(
        _ name: String, _ member: any WritableKeyPath<Values, [Value]> & Sendable, _ format: ValueFormat<Value>,
        placeholder: String? = nil, secrecy: Secrecy = .open, _ help: String
    ) {
        self.member = member
        spec = FlagSpec(name, placeholder ?? format.placeholder, secrecy, help, isRepeatable: true)
        defaultText = { $0[keyPath: member].first.flatMap { format.text?($0) } }
        store = { texts, values in
            var parsed: [Value] = []
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
    }

    func spec(_ defaults: Values, headings: [String: String]) -> FlagSpec {
        var spec = spec
        spec.defaultText = spec.isSwitch ? nil : defaultText(defaults)
        spec.group = headings[String(name.prefix { $0 != "." })] ?? spec.group
        return spec
    }

    var name: String { spec.name }
}

extension Options {
    /// The flag of a member as a user writes it, for example `--feed.url`.
    public static func flag(_ member: PartialKeyPath<Self>) -> String { "--" + name(of: member) }

    static func name(of member: PartialKeyPath<Self>) -> String {
        guard let flag = flags.first(where: { $0.member == member }) else {
            preconditionFailure("\(member) is not in the table")
        }
        return flag.name
    }
}

/// What of a value must never be shown, neither in an error nor in a log.
public enum Secrecy: Sendable {
    case open
    /// An address: its user, password, query and fragment are hidden.
    case address
    /// All of it.
    case whole
}

/// A flag as users see it.
public struct FlagSpec: Sendable {
    /// As on the command line, without the dashes: `feed.idle-timeout`.
    public let name: String
    /// What stands for the value in `--help`; nil = a switch, which takes none.
    public fileprivate(set) var placeholder: String?
    /// The value when none is given, as a user would write it; nil = no value.
    public fileprivate(set) var defaultText: String?
    /// One sentence fragment, without the default.
    public let help: String
    /// The heading in `--help` under which the flag stands.
    public fileprivate(set) var group = "Flags"
    public let isRepeatable: Bool
    public let secrecy: Secrecy

    fileprivate init(
        _ name: String, _ placeholder: String, _ secrecy: Secrecy, _ help: String, isRepeatable: Bool = false
    ) {
        self.name = name
        self.placeholder = placeholder
        self.help = help
        self.isRepeatable = isRepeatable
        self.secrecy = secrecy
    }

    var isSwitch: Bool { placeholder == nil }

    /// `prefix` + the name in capitals with `.` and `-` as `_`.
    func variable(prefix: String) -> String {
        prefix
            + name.uppercased().split(omittingEmptySubsequences: false) { $0 == "." || $0 == "-" }.joined(
                separator: "_")
    }

    /// The value as an error or a log may show it: quoted, on one line, without its secrets.
    func shown(_ value: String) -> String {
        switch secrecy {
        case .open: quoted(value)
        case .address: quoted(masked(address: value))
        case .whole: "***"
        }
    }
}
