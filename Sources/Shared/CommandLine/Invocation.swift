/// The action that a command line requests.
public enum Invocation: Sendable {
    /// Prints a text: help, version, a completion script or completion candidates.
    case text(String)
    case run(ParsedFlags)
}
