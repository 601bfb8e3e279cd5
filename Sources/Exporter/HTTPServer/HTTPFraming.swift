internal import Bytes
internal import HTTPText

/// The host and the end of a request, as its header gives them (RFC 9112, sections 3.2 and 6), where everybody reads
/// them the same way. What a proxy takes otherwise can hide a second request.
struct HTTPFraming {
    /// Whether something follows the header that is not the next request.
    let hasContent: Bool

    /// - Parameter needsHost: false for HTTP/1.0.
    init(of fields: [HTTPField], needsHost: Bool) throws(HTTPRejection) {
        guard fields.allSatisfy(\.isValid) else { throw HTTPRejection(400, "a header field is malformed") }
        let hosts = fields.filter { $0.isNamed("Host") }
        guard hosts.count == 1 || (hosts.isEmpty && !needsHost) else {
            throw HTTPRejection(400, "one Host field is needed")
        }
        guard hosts.allSatisfy({ trimmed($0.value[...]).utf8.allSatisfy(isHostCharacter) }) else {
            throw HTTPRejection(400, "invalid Host header")
        }
        let lengths = fields.filter { $0.isNamed("Content-Length") }.map { trimmed($0.value[...]).utf8 }
        let hasTransferCoding = fields.contains { $0.isNamed("Transfer-Encoding") }
        // Two lengths, or a length and chunks, mean one thing to us and another to a proxy.
        guard lengths.count + (hasTransferCoding ? 1 : 0) < 2 else {
            throw HTTPRejection(400, "the length of the content is ambiguous")
        }
        guard lengths.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isDigit) }) else {
            throw HTTPRejection(400, "Content-Length is not a number")
        }
        if hasTransferCoding { throw HTTPRejection(411, "content needs a Content-Length") }
        hasContent = lengths.contains { $0.contains { $0 != UInt8(ascii: "0") } }
    }
}

/// A character of a host and its port (RFC 3986, section 3.2), but for the comma, which would make a list of it.
private func isHostCharacter(_ byte: UInt8) -> Bool {
    isLetterOrDigit(byte) || "-._~!$&'()*+;=%:[]".utf8.contains(byte)
}
