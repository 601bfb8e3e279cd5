internal import Bytes

/// A path, or all paths below one, and how it responds.
///
/// An `HTTPServer` takes its routes as one array, and derives 404, 405, `Allow` and what needs no password from it.
public struct Route: Sendable {
    public let path: String
    /// Whether the route has all paths that begin with its path, instead of that one.
    public let isFolder: Bool
    public let methods: [String]
    /// Whether one of the users must ask, where the web configuration has any.
    public let needsPassword: Bool
    /// Fields of the route's own responses, a 405 included.
    private let headers: [(name: String, value: String)]
    /// Whether a rejection is an object of JSON with a field `error`, instead of one line of plain text.
    private let rejectsInJSON: Bool
    public let limit: RequestLimit?
    public let meter: HTTPMeter?
    private let respond: @Sendable (HTTPRequest) -> HTTPResponse

    /// - Parameters:
    ///   - path: percent-decoded; compared byte for byte.
    ///   - respond: called on the connection's thread, where it may block.
    public init(
        _ path: String, isFolder: Bool = false, methods: [String] = ["GET", "HEAD"], needsPassword: Bool = true,
        headers: [(name: String, value: String)] = [], rejectsInJSON: Bool = false, limit: RequestLimit? = nil,
        meter: HTTPMeter? = nil, respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) {
        self.path = path
        self.isFolder = isFolder
        self.methods = methods
        self.needsPassword = needsPassword
        self.headers = headers
        self.rejectsInJSON = rejectsInJSON
        self.limit = limit
        self.meter = meter
        self.respond = respond
    }

    /// The response to a request for the path: 405 for a method that it does not have.
    func response(to request: HTTPRequest) -> HTTPResponse {
        if methods.contains(request.method) { return respond(request) }
        let allow = methods.joined(separator: ", ")
        return HTTPResponse(
            status: 405, headers: [("Allow", allow)], line: "method not allowed here, expected \(allow)")
    }

    /// The response with the fields of the route, and its line in JSON where the route wants that.
    func completed(_ response: HTTPResponse) -> HTTPResponse {
        let headers = response.headers + headers
        guard rejectsInJSON, case .line(let line) = response.body else {
            return HTTPResponse(status: response.status, headers: headers, body: response.body)
        }
        var text = Array("{\"error\": ".utf8)
        text.appendJSONString(onOneLine(line).utf8Span.span)
        text += "}\n".utf8
        return HTTPResponse(
            status: response.status, headers: [("Content-Type", "application/json")] + headers, body: .bytes(text))
    }

    /// Whether the route has the path. For `hasPrefix`, a combining character behind a slash belongs to the slash;
    /// bytes tell them apart.
    public func matches(_ path: String) -> Bool {
        isFolder ? path.utf8.starts(with: self.path.utf8) : path.utf8.elementsEqual(self.path.utf8)
    }
}
