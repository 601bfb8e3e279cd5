internal import Bytes

/// One `--flag` of a program: a row of the static table that drives parsing, the environment, `--help` and the errors.
public struct Flag: Sendable {
    /// What of a value must never be shown, neither in an error nor in a log.
    public enum Secrecy: Sendable {
        case open
        /// An address: its user, password, query and fragment are hidden.
        case address
        /// All of it.
        case whole
    }

    /// As on the command line, without the dashes: `feed.idle-timeout`.
    public let name: String
    /// What stands for the value in `--help`; nil = a switch, which takes none.
    public let placeholder: String?
    /// The value when none is given, as a user would write it; nil = no value.
    public let defaultText: String?
    /// One sentence fragment, without the default.
    public let help: String
    /// The heading in `--help` under which the flag stands.
    public let group: String
    public let isRepeatable: Bool
    public let secrecy: Secrecy

    /// A flag with a value.
    public init(
        _ name: String, _ placeholder: String, default defaultText: String? = nil, isRepeatable: Bool = false,
        secrecy: Secrecy = .open, group: String = "Flags", help: String
    ) {
        self.name = name
        self.placeholder = placeholder
        self.defaultText = defaultText
        self.isRepeatable = isRepeatable
        self.secrecy = secrecy
        self.group = group
        self.help = help
    }

    /// A switch: off unless it is given as `--name` or `--name=true`.
    public init(switch name: String, group: String = "Flags", help: String) {
        self.name = name
        placeholder = nil
        defaultText = nil
        isRepeatable = false
        secrecy = .open
        self.group = group
        self.help = help
    }

    var isSwitch: Bool { placeholder == nil }

    /// `prefix` + the name in capitals with `.` and `-` as `_`.
    func variable(prefix: String) -> String {
        let bytes = name.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "."), UInt8(ascii: "-"): UInt8(ascii: "_")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - 32
            default: byte
            }
        }
        return prefix + String(decoding: bytes, as: UTF8.self)
    }

    /// The value as an error or a log may show it: quoted, on one line, without its secrets.
    public func shown(_ value: String) -> String {
        switch secrecy {
        case .open: quoted(value)
        case .address: quoted(masked(address: value))
        case .whole: "***"
        }
    }
}
