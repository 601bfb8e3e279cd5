/// The reason why a response says nothing.
public enum SourceError: Error, Sendable, Equatable {
    /// The key is wrong, or does not allow this.
    case refused(String)
    /// Too many calls.
    case busy(String)
    /// A fault that the source reports in place of what was asked for.
    case failed(String)
    /// Nothing for this query, which it is no use to repeat.
    case missing(String)
    /// Not in the documented shape.
    case unreadable(String)

    /// Sorts a source's own words, which it sends in place of what was asked for.
    public init(vendorMessage said: String) {
        let text = said.lowercased()
        let words = text.split { !$0.isLetter }
        func mentions(_ beginnings: String...) -> Bool { words.contains { beginnings.contains(where: $0.hasPrefix) } }
        if mentions("quota") || ["rate limit", "limit exceeded", "too many"].contains(where: text.contains) {
            self = .busy(said)
        } else if words.contains("key") || words.contains("keys")
            || mentions(
                "apikey", "token", "authoris", "authoriz", "unauthori", "authenticat", "unauthenticat", "forbidden")
        {
            self = .refused(said)
        } else {
            self = .failed(said)
        }
    }
}
