/// A program's face on the command line, as a table.
///
/// ```swift
/// struct ServeOptions: Options {
///     var port = 80
///     static let flags: [Flag<Self>] = [Flag("port", \.port, .integer(in: 1...65535), "Port to listen on.")]
/// }
/// let serve = Command(summary: "Serves files.", options: ServeOptions.self)
/// let program = Program(name: "server", summary: "Serves files.", environmentPrefix: "SERVER_", commands: [serve])
/// if case .run(let flags) = try program.parse(arguments: processArguments(), environment: environmentVariables()) {
///     let options: ServeOptions = try flags.options()
/// }
/// ```
///
/// The rules: `--flag value` and `--flag=value`; a switch is `--flag`, or has `true` or `false` for a value; `--` ends
/// the flags; a flag wins over its variable; an empty variable counts as not set.
public struct Program: Sendable {
    public let name: String
    public let version: String
    /// One sentence or two, for `--help`.
    public let summary: String
    /// The first part of the environment variable of each flag; `nil` = the environment is not read.
    public let environmentPrefix: String?
    /// The first one runs when none is named. A flag that several commands have is a switch in all or in none.
    public let commands: [Command]
    /// Variables with the prefix that are no flags.
    public let otherVariables: [String]
    /// Advice for words that users type and the program does not know.
    let advice: [Advice]

    public init(
        name: String, version: String = "", summary: String, environmentPrefix: String? = nil,
        otherVariables: [String] = [], commands: [Command], advice: [Advice] = []
    ) {
        precondition(!commands.isEmpty, "a program does something")
        self.name = name
        self.version = version
        self.summary = summary
        self.environmentPrefix = environmentPrefix
        self.commands = commands
        self.otherVariables = otherVariables
        self.advice = advice
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
    public let summary: String
    /// Arguments required besides flags.
    public let operands: [Operand]
    let flags: [FlagSpec]
    /// The flags that mean something to the command.
    let shownFlags: [FlagSpec]

    /// - Parameter shown: the members of the flags that help and completion show; the others are accepted, so that the
    ///   command can be called with those of another one. `nil` shows all.
    public init<Values: Options>(
        name: String = "", summary: String, operands: [Operand] = [], options: Values.Type,
        showing shown: [PartialKeyPath<Values>]? = nil
    ) {
        self.name = name
        self.summary = summary
        self.operands = operands
        let defaults = Values()
        let flags = Values.flags.map { $0.spec(defaults, headings: Values.headings) }
        let names = shown?.map(Values.name)
        self.flags = flags
        shownFlags = flags.filter { names?.contains($0.name) ?? true }
    }
}

/// Argument that a command needs besides flags, for example `FILE`.
public struct Operand: Sendable, ExpressibleByStringLiteral {
    public let name: String
    let suggestions: Suggestions

    public init(_ name: String, _ suggestions: Suggestions) {
        self.name = name
        self.suggestions = suggestions
    }

    public init(stringLiteral name: String) { self.init(name, .none) }
}

/// Action that a command line asks for.
public enum Invocation: Sendable {
    /// Print this text, help or completion, and end with status 0.
    case text(String)
    /// Print the version and end with status 0.
    case version
    case run(ParsedFlags)
}

/// The reason why a program cannot start with the flags that it was given.
public struct FlagError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One line for people: which flag, which value (secrets as `***`), what was expected.
    public let line: String

    public init(_ line: String) { self.line = line }

    public var description: String { line }
}
