import HTTPServer
import HTTPText

extension HTTPResponse {
    /// A response that is compressed if the client accepts it.
    init(
        status: Int = 200, headers: [(name: String, value: String)], to request: HTTPRequest, _ content: [UInt8]
    ) {
        let isGzip = request.takesGzip
        self.init(
            status: status, headers: headers + (isGzip ? [("Content-Encoding", "gzip")] : []),
            body: .bytes(isGzip ? Gzip.member(of: content) : content))
    }
}

extension HTTPRequest {
    var takesGzip: Bool { prefersGzip(acceptEncoding: header("Accept-Encoding")) }
}
