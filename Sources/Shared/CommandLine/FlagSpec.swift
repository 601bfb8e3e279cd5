internal import Bytes

/// The description of a flag shown to users.
struct FlagSpec: Sendable {
    /// The name without its dashes, such as `feed.idle-timeout`.
    var name: String
    /// Placeholder of the value in `--help`; `nil` for a switch.
    var placeholder: String?
    /// The default as a user would write it; `nil` if there is none.
    var defaultText: String?
    /// Help text, without the default.
    var help: String
    /// All valid values of an enumeration; otherwise empty.
    var choices: [String] = []
    var secrecy = Secrecy.open
    var isRepeatable = false

    /// Flags of every program. Each prints a text and ends the program, whatever else is given.
    static let general = [
        FlagSpec(name: "help", help: "Print this help, or that of the named command."),
        FlagSpec(name: "version", help: "Print the version."),
    ]

    var isSwitch: Bool { placeholder == nil }

    /// The default and `repeatable` in parentheses, as appended to the help text; empty if neither applies.
    var remark: String {
        let shown = defaultText ?? ""
        let remarks = (shown.isEmpty ? [] : ["default \(shown)"]) + (isRepeatable ? ["repeatable"] : [])
        return remarks.isEmpty ? "" : " (" + remarks.joined(separator: ", ") + ")"
    }

    /// Returns the environment variable: `prefix` and the name in upper case, with `_` for `.` and `-`.
    func variable(prefix: String) -> String {
        prefix + String(name.uppercased().map { $0 == "." || $0 == "-" ? "_" : $0 })
    }

    /// Returns the value for an error or a log: quoted, on one line, with secrets masked.
    func shown(_ value: String) -> String {
        switch secrecy {
        case .open: quoted(placeholder == "FILE" ? masked(path: value) : value)
        case .address: quoted(masked(address: value))
        case .whole: "***"
        }
    }
}
