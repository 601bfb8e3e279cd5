/// Why a query has no usable response.
public enum SourceError: Error, Sendable, Equatable {
    /// The key is invalid or lacks permission.
    case refused(String)
    /// The rate limit was exceeded.
    case busy(String)
    /// An error reported by the source.
    case failed(String)
    /// The source has nothing for this query; repeating it is pointless.
    case missing(String)
    /// The response does not have the documented shape.
    case unreadable(String)

    /// Classifies an error message of a source.
    public init(vendorMessage message: String) {
        let text = message.lowercased()
        if text.contains(/quota|rate limit|limit exceeded|too many/) {
            self = .busy(message)
        } else if text.contains(/\b(?:keys?\b|api_?key|token|(?:un)?authori[sz]|(?:un)?authenticat|forbidden)/) {
            self = .refused(message)
        } else {
            self = .failed(message)
        }
    }
}
