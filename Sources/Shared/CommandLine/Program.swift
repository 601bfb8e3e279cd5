public import System

/// A program's face on the command line, as a table.
///
/// ```swift
/// struct ServeOptions: Options {
///     var port = 80
///     static let flags: [Flag<Self>] = [Flag("port", \.port, .integer(in: 1...65535), "Port to listen on.")]
/// }
/// let serve = Command(summary: "Serves files.", options: ServeOptions.self)
/// let program = Program(
///     name: "server", version: "server 1.0\n", summary: "Serves files.", environmentPrefix: "SERVER_",
///     commands: [serve])
/// let status = program.run(processArguments()) { flags in
///     let options: ServeOptions = try flags.options()
/// }
/// ```
///
/// The rules: `--flag value` and `--flag=value`; a switch is `--flag`, or has `true` or `false` for a value; `--` ends
/// the flags; a flag wins over its variable; an empty variable counts as not set.
public struct Program: Sendable {
    public let name: String
    /// The output of `--version`, with a line break at the end.
    let version: String
    /// One sentence or two, for `--help`.
    let summary: String
    /// The first part of the environment variable of each flag.
    let environmentPrefix: String
    /// Variables with the prefix that are no flags.
    let otherVariables: [String]
    /// The first one runs when none is named. A flag that several commands have is a switch in all or in none.
    let commands: [Command]
    /// Advice for words that users type and the program does not know.
    let advice: [Advice]

    public init(
        name: String, version: String = "", summary: String, environmentPrefix: String, otherVariables: [String] = [],
        commands: [Command], advice: [Advice] = []
    ) {
        self.name = name
        self.version = version
        self.summary = summary
        self.environmentPrefix = environmentPrefix
        self.otherVariables = otherVariables
        self.commands = commands
        self.advice = advice
    }

    /// Prints what the arguments ask for, or does what they say.
    ///
    /// - Parameters:
    ///   - arguments: without the program's own name.
    ///   - signals: those that end the program while it only prints.
    ///   - perform: does what the flags say and returns the exit status. Its error is one line on standard error.
    /// - Returns: the exit status.
    public func run(_ arguments: [String], signals: Signals, perform: (ParsedFlags) throws -> Int32) -> Int32 {
        do {
            switch try parse(arguments: arguments, environment: environmentVariables()) {
            case .text(let text):
                signals.unblock()
                StandardStream.output.write(text)
                return 0
            case .run(let flags): return try perform(flags)
            }
        } catch {
            // After the lines that the log has not written yet.
            LogWriter.standardError.append(Array("\(name): \(error)\n".utf8))
            return 1
        }
    }

    func command(named name: String) -> Command? { commands.first { !$0.name.isEmpty && $0.name == name } }

    /// The flag of any command with that name, dashes included.
    func flag(_ name: String) -> FlagSpec? {
        (commands.flatMap(\.flags) + FlagSpec.general).first { "--" + $0.name == name }
    }
}

/// One thing that a program does.
public struct Command: Sendable {
    /// The word that selects it; empty = selected by naming no command.
    public let name: String
    let summary: String
    /// Arguments required besides flags, such as `FILE`.
    let operands: [String]
    let flags: [FlagSpec]
    /// The flags that mean something to the command.
    let shownFlags: [FlagSpec]

    /// - Parameter shown: the flags that help and completion show; the others are accepted, so that the command can be
    ///   called with those of another one. `nil` shows all.
    public init<Values: Options>(
        name: String = "", summary: String, operands: [String] = [], options: Values.Type,
        showing shown: [String]? = nil
    ) {
        self.name = name
        self.summary = summary
        self.operands = operands
        let defaults = Values()
        let flags = Values.flags.map { $0.shownSpec(defaults, headings: Values.headings) }
        self.flags = flags
        shownFlags = shown.map { shown in flags.filter { shown.contains($0.name) } } ?? flags
    }
}

/// Action that a command line asks for.
public enum Invocation: Sendable {
    /// Print this text: help, version or completion.
    case text(String)
    case run(ParsedFlags)
}

/// The reason why a program cannot start with the flags that it was given.
public struct FlagError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One line for people: which flag, which value (secrets as `***`), what was expected.
    public let line: String

    public init(_ line: String) { self.line = line }

    public var description: String { line }
}
