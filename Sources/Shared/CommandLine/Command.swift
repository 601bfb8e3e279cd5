/// A command of a program.
public struct Command: Sendable {
    /// The word that selects it; empty if it runs when no command is named.
    public let name: String
    let summary: String
    /// Names of the required arguments, such as `FILE`.
    let operands: [String]
    let flags: [FlagSpec]
    /// Headings of `--help`, by the first word of their flags' names.
    let headings: [String: String]
    /// The flags listed by help.
    let shownFlags: [FlagSpec]

    /// - Parameter shown: the flags listed by help; `nil` lists all. The command accepts the others too,
    ///   so that it can be called with the flags of another command.
    public init<Values: Options>(
        name: String = "", summary: String, operands: [String] = [], options: Values.Type,
        showing shown: [String]? = nil
    ) {
        self.name = name
        self.summary = summary
        self.operands = operands
        flags = Values.flags.map(\.spec)
        headings = Values.headings
        shownFlags = flags.filter { shown?.contains($0.name) ?? true }
    }

    func has(_ flag: String) -> Bool { flags.contains { $0.name == flag } }
}
