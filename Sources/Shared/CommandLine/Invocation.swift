/// Action that a command line asks for.
public enum Invocation: Sendable {
    /// Print this text: help, version or completion.
    case text(String)
    case run(ParsedFlags)
}
