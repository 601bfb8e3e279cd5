/// The reason why there is no response.
public struct HTTPFailure: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Reason: String, Sendable {
        /// The name of the host or of the proxy was not found.
        case resolve
        case connect
        case tls
        /// Connecting, or the whole transfer, timed out.
        case timeout
        /// The connection ended before the response did.
        case lost
        case tooLarge = "too large"
        /// A redirect to another host, to plain text, or one too many.
        case redirect
        /// The response is not HTTP.
        case malformed
        case cancelled
        /// Another error of libcurl.
        case other
    }

    public let reason: Reason
    /// One line for people.
    public let detail: String

    public init(_ reason: Reason, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }

    public var description: String { "\(reason.rawValue): \(detail)" }
}
