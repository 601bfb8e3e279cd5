/// A path, or all paths below one, and how it responds.
///
/// An `HTTPServer` takes its routes as one array, and derives 404, 405, `Allow` and what needs no password from it.
public struct Route: Sendable {
    public enum Access: Sendable {
        /// Where the web configuration has users, one of them must ask.
        case restricted
        /// Never needs a password.
        case open
    }

    /// The form of a response that the server makes itself.
    public enum ErrorForm: Sendable {
        /// One line of plain text.
        case text
        /// An object of JSON with the line as its field `error`.
        case json
    }

    public let path: String
    /// Whether the route has all paths that begin with its path, instead of that one.
    public let isFolder: Bool
    public let methods: [String]
    public let access: Access
    public let errorForm: ErrorForm
    /// The limit of its requests; `nil`: none.
    public let limit: RequestLimit?
    /// The meter that counts the route's requests; `nil`: none does.
    public let meter: HTTPMeter?
    private let respond: @Sendable (HTTPRequest) -> HTTPResponse

    /// - Parameters:
    ///   - path: percent-decoded; compared byte for byte.
    ///   - respond: called on the connection's thread, where it may block.
    public init(
        _ path: String, isFolder: Bool = false, methods: [String] = ["GET", "HEAD"], access: Access = .restricted,
        errorForm: ErrorForm = .text, limit: RequestLimit? = nil, meter: HTTPMeter? = nil,
        respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) {
        self.path = path
        self.isFolder = isFolder
        self.methods = methods
        self.access = access
        self.errorForm = errorForm
        self.limit = limit
        self.meter = meter
        self.respond = respond
    }

    /// The response to a request for the path: 405 for a method that it does not have.
    public func response(to request: HTTPRequest) -> HTTPResponse {
        guard methods.contains(request.method) else {
            let allow = methods.joined(separator: ", ")
            let refusal = HTTPRefusal(405, headers: [("Allow", allow)], "method not allowed here, expected \(allow)")
            return refusal.response(in: errorForm)
        }
        return respond(request)
    }

    /// Whether the route has the path. For `hasPrefix`, a combining character behind a slash belongs to the slash;
    /// bytes tell them apart.
    public func matches(_ path: String) -> Bool {
        isFolder ? path.utf8.starts(with: self.path.utf8) : path.utf8.elementsEqual(self.path.utf8)
    }
}
