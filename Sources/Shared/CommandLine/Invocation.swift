/// The action that a command line requests.
public enum Invocation: Sendable {
    /// Prints a text: help or version.
    case text(String)
    case run(ParsedFlags)
}
