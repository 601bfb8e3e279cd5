/// A program's face on the command line, as a table.
///
/// Both programs of this package are described by such a table. swift-argument-parser would have been the usual choice;
/// it reads no environment variables, has no `--switch=false`, answers a mistake with several lines of usage and prints
/// a bad value as it is, secret or not. All four are asked of us, and what remains after them is this small target.
///
/// The rules: `--flag value` and `--flag=value`; a switch is `--flag`, `--flag=true` or `--flag=false`; `--` ends the
/// flags; a flag wins over its variable. Variables that name no flag are not looked at, so that what Kubernetes injects
/// does no harm; an empty variable counts as not set.
public struct Program: Sendable {
    public let name: String
    /// One sentence or two, for `--help`.
    public let summary: String
    /// The first part of the environment variable of each flag; nil = the environment is not read.
    public let environmentPrefix: String?
    /// The first one runs when none is named. A flag that several commands have is a switch in all or in none.
    public let commands: [Command]

    public init(name: String, summary: String, environmentPrefix: String? = nil, commands: [Command]) {
        precondition(!commands.isEmpty, "a program does something")
        self.name = name
        self.summary = summary
        self.environmentPrefix = environmentPrefix
        self.commands = commands
    }
}

/// One thing that a program does.
public struct Command: Sendable {
    /// The word that selects it; empty = selected by naming no command.
    public let name: String
    public let summary: String
    /// Names of what must be given besides flags, for example `FILE`.
    public let operands: [String]
    public let flags: [FlagSpec]

    public init<Values: Options>(
        name: String = "", summary: String, operands: [String] = [], options: Values.Type
    ) {
        self.name = name
        self.summary = summary
        self.operands = operands
        let defaults = Values()
        flags = Values.flags.map { $0.spec(defaults, headings: Values.headings) }
    }
}

/// What a command line asks for.
public enum Invocation: Sendable {
    /// Print this text and end with status 0.
    case help(String)
    /// Print the version and end with status 0.
    case version
    case run(ParsedFlags)
}

/// Why a program cannot start with the flags that it was given.
public struct FlagError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One line for people: which flag, which value (secrets as `***`), what was expected.
    public let line: String

    public init(_ line: String) {
        self.line = line
    }

    public var description: String { line }
}
