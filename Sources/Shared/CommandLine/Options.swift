/// The values of a command's flags, as the command uses them.
///
/// Its members are declared with the defaults; its table says which flag goes to which member. Parsing, the
/// environment, `--help` and the errors all come from the table.
public protocol Options: Sendable {
    /// All defaults.
    init()
    static var flags: [Flag<Self>] { get }
    /// The headings of `--help` by the first word of the flags under them.
    static var headings: [String: String] { get }
}

extension Options {
    public static var headings: [String: String] { [:] }

    /// Sets the member of a flag from texts that stand elsewhere, in a file perhaps.
    ///
    /// - Returns: `nil` when there is no such flag; else its secrecy and, where a text is rejected, what was expected.
    public mutating func set(flag name: String, to texts: [String]) -> (secrecy: Secrecy, expected: String?)? {
        guard let flag = Self.flags.first(where: { $0.name == name }) else { return nil }
        if texts.count > 1, !flag.spec.isRepeatable { return (flag.spec.secrecy, "one value") }
        return (flag.spec.secrecy, flag.store(texts, &self)?.expected)
    }
}
