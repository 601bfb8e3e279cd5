internal import Bytes
public import System

/// The command-line interface of a program, as a table.
///
/// Syntax: `--flag value` or `--flag=value`; for a switch the value (`true` or `false`) is optional; `--` ends the
/// flags. A flag wins over its environment variable; an empty variable counts as unset.
public struct Program: Sendable {
    public let name: String
    /// The output of `--version`, with a line break at the end.
    let version: String
    let summary: String
    /// Variables with the program's prefix that belong to no flag.
    let otherVariables: [String]
    /// The first one runs if none is named. A flag shared by commands must be a switch in all of them or in none.
    let commands: [Command]
    let advice: [Advice]

    public init(
        name: String, version: String = "", summary: String, otherVariables: [String] = [], commands: [Command],
        advice: [Advice] = []
    ) {
        self.name = name
        self.version = version
        self.summary = summary
        self.otherVariables = otherVariables
        self.commands = commands
        self.advice = advice
    }

    /// Prints the requested text or runs a command, and returns the exit status.
    ///
    /// - Parameters:
    ///   - arguments: without the program's own name; `nil` for one that is not UTF-8.
    ///   - signals: unblocked before a text is printed, so that they can end the program.
    ///   - perform: runs the command and returns the exit status. An error is printed as one line, with status 1.
    public func run(_ arguments: [String?], signals: Signals, perform: (ParsedFlags) throws -> Int32) -> Int32 {
        do {
            let variables = EnvironmentVariables.current()
            let texts = try texts(of: arguments, variables)
            switch try parse(arguments: texts, environment: variables.values) {
            case .text(let text):
                signals.unblock()
                return StandardStream.output.write(text) ? 0 : 1
            case .run(let flags): return try perform(flags)
            }
        } catch {
            // Follows the lines that the log has not written yet.
            LogWriter.standardError.append(Array("\(name): \(error)\n".utf8))
            return 1
        }
    }

    /// Rejects arguments, and variables of this program, that are not UTF-8.
    func texts(of arguments: [String?], _ variables: EnvironmentVariables) throws(FlagError) -> [String] {
        if let index = arguments.firstIndex(of: nil) {
            let previous = index > 0 ? arguments[index - 1] : nil
            // Another argument may be a secret value.
            let context = previous.flatMap { $0.hasPrefix("--") ? ", which follows \($0.beforeEqualsSign)" : nil }
            throw FlagError("argument \(index + 1)\(context ?? ""): expected UTF-8")
        }
        let prefix = environmentPrefix
        if let name = variables.unreadable.first(where: { $0.hasPrefix(prefix) }) {
            throw FlagError("\(name): expected UTF-8")
        }
        return arguments.compactMap(\.self)
    }

    /// The prefix of each flag's environment variable, such as `AIR_QUALITY_FEED_`.
    var environmentPrefix: String { name.uppercased().replacing("-", with: "_") + "_" }

    func command(named name: String) -> Command? { commands.first { !$0.name.isEmpty && $0.name == name } }

    /// Returns the flag of any command with that name, which includes the dashes.
    func flag(_ name: String) -> FlagSpec? {
        (commands.flatMap(\.flags) + FlagSpec.general).first { "--" + $0.name == name }
    }
}
