internal import Bytes
internal import HTTPText

extension [HTTPField] {
    /// Checks `Host` and the framing of a request (RFC 9112, sections 3.2 and 6). Rejects what is ambiguous, because
    /// a proxy that reads it differently could let a second request through.
    ///
    /// - Parameter needsHost: `false` for HTTP/1.0.
    /// - Returns: whether the request has content.
    func hasContent(needsHost: Bool) throws(HTTPResponse.Rejection) -> Bool {
        guard allSatisfy(\.isValid) else { throw .init(status: 400, line: "a header field is malformed") }
        let hosts = filter { $0.isNamed("Host") }
        guard hosts.count == 1 || (hosts.isEmpty && !needsHost) else {
            throw .init(status: 400, line: "expected exactly one Host field")
        }
        guard hosts.allSatisfy({ isAuthority(trimmed($0.value[...]).utf8) }) else {
            throw .init(status: 400, line: "invalid Host header")
        }
        let lengths = filter { $0.isNamed("Content-Length") }.map { trimmed($0.value[...]).utf8 }
        let hasTransferCoding = contains { $0.isNamed("Transfer-Encoding") }
        // A proxy may read two lengths, or a length and chunks, differently than this server.
        guard lengths.count + (hasTransferCoding ? 1 : 0) < 2 else {
            throw .init(status: 400, line: "the length of the content is ambiguous")
        }
        guard lengths.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isDigit) }) else {
            throw .init(status: 400, line: "Content-Length is not a number")
        }
        if hasTransferCoding { throw .init(status: 411, line: "content needs a Content-Length") }
        return lengths.contains { $0.contains { $0 != UInt8(ascii: "0") } }
    }
}
