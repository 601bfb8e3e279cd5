/// A program's face on the command line, as a table.
///
/// Both programs of this package are described by such a table. swift-argument-parser would have been the usual choice;
/// it reads no environment variables, has no `--switch=false`, answers a mistake with several lines of usage and prints
/// a bad value as it is, secret or not. The contract demands all four.
///
/// The rules: `--flag value` and `--flag=value`; a switch is `--flag`, `--flag=true` or `--flag=false`; `--` ends the
/// flags; a flag wins over its variable. Variables without a flag are ignored, as Kubernetes injects its own; an empty variable counts
/// as not set.
public struct Program: Sendable {
    public let name: String
    public let version: String
    /// One sentence or two, for `--help`.
    public let summary: String
    /// The first part of the environment variable of each flag; nil = the environment is not read.
    public let environmentPrefix: String?
    /// The first one runs when none is named. A flag that several commands have is a switch in all or in none.
    public let commands: [Command]
    /// What `--man` says besides.
    public let manual: Manual

    public init(
        name: String, version: String = "", summary: String, environmentPrefix: String? = nil, commands: [Command],
        manual: Manual = Manual()
    ) {
        precondition(!commands.isEmpty, "a program does something")
        self.name = name
        self.version = version
        self.summary = summary
        self.environmentPrefix = environmentPrefix
        self.commands = commands
        self.manual = manual
    }

    /// Commands with the same flags are together.
    var commandsByFlags: [[Command]] {
        var tables: [[Command]] = []
        for command in commands {
            let names = command.flags.map(\.name)
            if let place = tables.firstIndex(where: { $0[0].flags.map(\.name) == names }) {
                tables[place].append(command)
            } else {
                tables.append([command])
            }
        }
        return tables
    }
}

/// One thing that a program does.
public struct Command: Sendable {
    /// The word that selects it; empty = selected by naming no command.
    public let name: String
    public let summary: String
    /// What must be given besides flags.
    public let operands: [Operand]
    public let flags: [FlagSpec]

    public init<Values: Options>(
        name: String = "", summary: String, operands: [Operand] = [], options: Values.Type
    ) {
        self.name = name
        self.summary = summary
        self.operands = operands
        let defaults = Values()
        flags = Values.flags.map { $0.spec(defaults, headings: Values.headings) }
    }
}

/// What a command needs besides flags, for example `FILE`.
public struct Operand: Sendable, ExpressibleByStringLiteral {
    public let name: String
    let suggestions: Suggestions

    public init(_ name: String, _ suggestions: Suggestions) {
        self.name = name
        self.suggestions = suggestions
    }

    public init(stringLiteral name: String) { self.init(name, .none) }
}

/// What a command line asks for.
public enum Invocation: Sendable {
    /// Print this text, help, manual or completion, and end with status 0.
    case text(String)
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
