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
        if text.contains(/quota|rate limit|limit exceeded|too many/) {
            self = .busy(said)
        } else if text.contains(/\b(?:keys?\b|api_?key|token|(?:un)?authori[sz]|(?:un)?authenticat|forbidden)/) {
            self = .refused(said)
        } else {
            self = .failed(said)
        }
    }
}
