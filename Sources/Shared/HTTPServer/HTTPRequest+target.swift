internal import Bytes

extension HTTPRequest {
    /// Parses a request target (RFC 9112, section 3.2): the origin form (`/path?query`), the absolute form
    /// (`http://host/path?query`) or `*`.
    init(method: String, target: [UInt8]) throws(HTTPResponse.Rejection) {
        let malformed = HTTPResponse.Rejection(status: 400, line: "the request target is malformed")
        // Excludes ASCII blanks and controls. Bytes beyond ASCII are not in RFC 3986, but are harmless.
        guard let bytes = Self.pathAndQuery(of: target), bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw malformed
        }
        let end = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        // C code ends a path at a NUL, so a proxy or client could see a different one.
        guard let decoded = percentDecoded(bytes[..<end]), !decoded.contains(0),
            let path = String(validating: decoded, as: UTF8.self),
            let query = String(validating: bytes[end...].dropFirst(), as: UTF8.self)
        else { throw malformed }
        self.init(method: method, path: path.isEmpty ? "/" : path, query: query)
    }

    private static func pathAndQuery(of target: [UInt8]) -> ArraySlice<UInt8>? {
        if target.first == UInt8(ascii: "/") || target == [UInt8(ascii: "*")] { return target[...] }
        // RFC 9112 section 3.2.2: a server must accept the absolute form.
        for scheme in ["http://", "https://"] where equalsIgnoringCase(target.prefix(scheme.utf8.count), scheme) {
            let rest = target.dropFirst(scheme.utf8.count)
            let path = rest.drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
            let authority = rest.prefix(rest.count - path.count)
            return !authority.isEmpty && isAuthority(authority) ? path : nil
        }
        return nil
    }
}
