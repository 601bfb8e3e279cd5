import HTTPServer
import HTTPText

extension HTTPResponse {
    /// A response with status 200, compressed if the client accepts it.
    init(headers: [(name: String, value: String)], to request: HTTPRequest, _ content: [UInt8]) {
        let isGzip = request.takesGzip
        self.init(
            status: 200, headers: headers + (isGzip ? [("Content-Encoding", "gzip")] : []),
            body: .bytes(isGzip ? Gzip.member(of: content) : content))
    }
}

extension HTTPRequest {
    var takesGzip: Bool { prefersGzip(acceptEncoding: header("Accept-Encoding")) }
}
