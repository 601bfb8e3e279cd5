/// The part of a value that errors and logs must never show.
public enum Secrecy: Sendable {
    case open
    /// An address: its user, password, query and fragment are hidden.
    case address
    /// All of it.
    case whole
}
