public import System

/// A program's face on the command line, as a table.
///
/// The rules: `--flag value` and `--flag=value`; a switch is `--flag`, or has `true` or `false` for a value; `--` ends
/// the flags; a flag wins over its variable; an empty variable counts as not set.
public struct Program: Sendable {
    public let name: String
    /// The output of `--version`, with a line break at the end.
    let version: String
    /// One sentence or two, for `--help`.
    let summary: String
    /// Variables with the prefix that are no flags.
    let otherVariables: [String]
    /// The first one runs when none is named. A flag that several commands have is a switch in all or in none.
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

    /// Prints what the arguments ask for, or does what they say, and returns the exit status.
    ///
    /// - Parameters:
    ///   - arguments: without the program's own name.
    ///   - signals: those that end the program while it only prints.
    ///   - perform: does what the flags say and returns the exit status. Its error is one line on standard error.
    public func run(_ arguments: [String], signals: Signals, perform: (ParsedFlags) throws -> Int32) -> Int32 {
        do {
            switch try parse(arguments: arguments, environment: environmentVariables()) {
            case .text(let text):
                signals.unblock()
                return StandardStream.output.write(text) ? 0 : 1
            case .run(let flags): return try perform(flags)
            }
        } catch {
            // After the lines that the log has not written yet.
            LogWriter.standardError.append(Array("\(name): \(error)\n".utf8))
            return 1
        }
    }

    /// The first part of the environment variable of each flag, such as `AIR_QUALITY_FEED_`.
    var environmentPrefix: String { name.uppercased().replacing("-", with: "_") + "_" }

    func command(named name: String) -> Command? { commands.first { !$0.name.isEmpty && $0.name == name } }

    /// The flag of any command with that name, dashes included.
    func flag(_ name: String) -> FlagSpec? {
        (commands.flatMap(\.flags) + FlagSpec.general).first { "--" + $0.name == name }
    }
}
