/// The part of a value that errors and logs must not show.
public enum Secrecy: Sendable {
    case open
    /// User, password, query, fragment and possible tokens in the path of a URL.
    case address
    /// The complete value.
    case whole
}
