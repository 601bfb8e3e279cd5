internal import Bytes

/// A flag as users see it.
struct FlagSpec: Sendable {
    /// As on the command line, without the dashes: `feed.idle-timeout`.
    var name: String
    /// Placeholder of the value in `--help`; `nil` = a switch, which takes none.
    var placeholder: String?
    /// The value when none is given, as a user would write it; `nil` = no value.
    var defaultText: String?
    /// A sentence or a fragment, without the default.
    var help: String
    /// The values, where they are a closed set.
    var choices: [String] = []
    var secrecy = Secrecy.open
    var isRepeatable = false

    /// Flags of every program; they end it, whatever else is given.
    static let general = [
        FlagSpec(name: "help", help: "Print this help, or that of the named command."),
        FlagSpec(name: "version", help: "Print the version."),
        FlagSpec(
            name: "completion", placeholder: "SHELL", help: "Print the completion script for bash, zsh or fish.",
            choices: ["bash", "zsh", "fish"]),
    ]

    var isSwitch: Bool { placeholder == nil }

    /// The default and whether it is repeatable, in parentheses.
    var remark: String {
        let shown = defaultText ?? ""
        let remarks = (shown.isEmpty ? [] : ["default \(shown)"]) + (isRepeatable ? ["repeatable"] : [])
        return remarks.isEmpty ? "" : " (" + remarks.joined(separator: ", ") + ")"
    }

    /// `prefix` + the name in capitals with `.` and `-` as `_`.
    func variable(prefix: String) -> String {
        prefix + String(name.uppercased().map { $0 == "." || $0 == "-" ? "_" : $0 })
    }

    /// The value as an error or a log may show it: quoted, on one line, without its secrets.
    func shown(_ value: String) -> String {
        switch secrecy {
        case .open: quoted(placeholder == "FILE" ? masked(path: value) : value)
        case .address: quoted(masked(address: value))
        case .whole: "***"
        }
    }
}
