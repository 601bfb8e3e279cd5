/// The reason why there is no response.
public enum HTTPFailure: Error, Sendable, Equatable {
    /// The request was no longer wanted.
    case cancelled
    /// One line for people, mostly in libcurl's words.
    case failed(String)
}
