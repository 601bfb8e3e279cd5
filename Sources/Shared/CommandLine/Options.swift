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
}
