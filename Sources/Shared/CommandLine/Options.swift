/// The parsed values of a command's flags.
///
/// Properties are declared with their defaults; `flags` binds flags to them, for parsing, `--help` and errors.
public protocol Options: Sendable {
    /// Creates the defaults.
    init()
    static var flags: [Flag<Self>] { get }
    /// Headings of `--help`, by the first word of their flags' names.
    static var headings: [String: String] { get }
}

extension Options {
    public static var headings: [String: String] { [:] }

    /// Sets the property of a flag from texts of another origin, such as a file.
    ///
    /// - Returns: the flag's secrecy and, if a text is rejected, what was expected; `nil` if there is no such flag.
    public mutating func set(flag name: String, to texts: [String]) -> (secrecy: Secrecy, expected: String?)? {
        guard let flag = Self.flags.first(where: { $0.name == name }) else { return nil }
        if texts.count > 1, !flag.spec.isRepeatable { return (flag.spec.secrecy, "one value") }
        return (flag.spec.secrecy, flag.store(texts, &self)?.expected)
    }
}
