/// One thing that a program does.
public struct Command: Sendable {
    /// The word that selects it; empty = selected by naming no command.
    public let name: String
    let summary: String
    /// Arguments required besides flags, such as `FILE`.
    let operands: [String]
    let flags: [FlagSpec]
    /// The headings of `--help` by the first word of the flags under them.
    let headings: [String: String]
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
        flags = Values.flags.map(\.spec)
        headings = Values.headings
        shownFlags = flags.filter { shown?.contains($0.name) ?? true }
    }
}
