/// The action requested by a command line.
public enum Invocation: Sendable {
    /// Prints a text: help, version, a completion script or completion candidates.
    case text(String)
    case run(ParsedFlags)
}
