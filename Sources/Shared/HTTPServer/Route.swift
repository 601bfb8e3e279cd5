internal import Bytes

/// A path, or all paths below one, and how to respond to it. An `HTTPServer` derives 404, 405, `Allow` and what needs
/// no password from the array of its routes.
public struct Route: Sendable {
    public let path: String
    /// Whether the route has all paths that begin with its path, not only that one.
    public let isFolder: Bool
    public let methods: [String]
    /// Whether neither passwords nor the rate limit apply to it, so that health checks depend on no client.
    public let isExempt: Bool
    /// Additional fields of the route's responses, including rejections.
    private let headers: [(name: String, value: String)]
    /// Whether a rejection is a JSON object with a field `error`, instead of one line of plain text.
    private let rejectsInJSON: Bool
    /// Holds until the response is sent.
    public let limit: RequestLimit?
    /// Holds while the response is generated.
    public let turns: RequestLimit?
    public let meter: HTTPMeter?
    private let respond: @Sendable (HTTPRequest) -> HTTPResponse

    /// - Parameters:
    ///   - path: percent-decoded; compared byte by byte.
    ///   - respond: called on the connection's thread, where it may block.
    public init(
        _ path: String, isFolder: Bool = false, methods: [String] = ["GET", "HEAD"], isExempt: Bool = false,
        headers: [(name: String, value: String)] = [], rejectsInJSON: Bool = false, limit: RequestLimit? = nil,
        turns: RequestLimit? = nil, meter: HTTPMeter? = nil, respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) {
        self.path = path
        self.isFolder = isFolder
        self.methods = methods
        self.isExempt = isExempt
        self.headers = headers
        self.rejectsInJSON = rejectsInJSON
        self.limit = limit
        self.turns = turns
        self.meter = meter
        self.respond = respond
    }

    /// Responds to a request for the path: with 405 if the route does not have its method.
    func response(to request: HTTPRequest) -> HTTPResponse {
        if methods.contains(request.method) { return respond(request) }
        let allow = methods.joined(separator: ", ")
        return HTTPResponse(
            status: 405, headers: [("Allow", allow)], line: "method not allowed here, expected \(allow)")
    }

    /// Adds the route's fields to a response, and turns its line into JSON for `rejectsInJSON`.
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

    /// Whether the route has the path. Compares bytes, as `hasPrefix` joins a slash and a combining character after it.
    public func matches(_ path: String) -> Bool {
        isFolder ? path.utf8.starts(with: self.path.utf8) : path.utf8.elementsEqual(self.path.utf8)
    }
}
