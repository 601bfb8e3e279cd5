internal import Bytes

/// What a request's header says about where the request goes and where it ends (RFC 9112, sections 3.2 and 6), and
/// whether others would read the same in it. Fields that libmicrohttpd takes and that a proxy may take otherwise hide
/// requests.
struct HTTPFraming: Equatable {
    private var hosts = 0
    private var lengths = 0
    private var isLengthNumber = true
    private var isLengthZero = true
    private var hasTransferCoding = false
    /// The first that makes the header one that no client should send.
    private var defect: Defect?

    enum Defect: String {
        case requestLine = "the request line is malformed"
        case lines = "the header has a line that begins with a blank, or has a NUL in it"
        case name = "a header field has no name, or one with a character that is not allowed there"
        case value = "a header field has a control character in its value"
        case host = "Host is not the name or address of one host"
    }

    mutating func add(method: Span<UInt8>) {
        if !allSatisfy(method, isTokenCharacter) { note(.requestLine) }
    }

    /// One field of the header, its name in any case.
    mutating func add(name: Span<UInt8>, value: Span<UInt8>) {
        if name.count == 0 || !allSatisfy(name, isTokenCharacter) { note(.name) }
        if !allSatisfy(value, { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) { note(.value) }
        switch name.count {
        case 4 where equals(name, "host"):
            hosts += 1
            if !isHost(bytes(value)) { note(.host) }
        case 14 where equals(name, "content-length"):
            lengths += 1
            let digits = trimmed(bytes(value))
            isLengthNumber = !digits.isEmpty && digits.allSatisfy(isDigit)
            isLengthZero = digits.allSatisfy { $0 == UInt8(ascii: "0") }
        case 17 where equals(name, "transfer-encoding"):
            hasTransferCoding = true
        default: break
        }
    }

    mutating func note(_ defect: Defect) {
        if self.defect == nil { self.defect = defect }
    }

    /// Why the request cannot be answered, if so.
    /// - Parameter needsHost: false for HTTP/1.0.
    func refusal(needsHost: Bool) -> HTTPRefusal? {
        if let defect { return HTTPRefusal(400, defect.rawValue) }
        guard hosts == 1 || hosts == 0 && !needsHost else { return HTTPRefusal(400, "one Host field is needed") }
        // Two lengths, or a length and chunks, mean one thing to us and another to a proxy.
        guard lengths < 2, lengths == 0 || !hasTransferCoding else {
            return HTTPRefusal(400, "the length of the content is ambiguous")
        }
        guard isLengthNumber else { return HTTPRefusal(400, "Content-Length is not a number") }
        return hasTransferCoding ? HTTPRefusal(411, "content needs a Content-Length") : nil
    }

    /// Whether something follows the header that is not the next request.
    var hasContent: Bool { !isLengthZero }
}

/// `host [":" port]` of RFC 3986, section 3.2, or nothing. A comma, a sub-delimiter there, makes it a list.
private func isHost(_ value: [UInt8]) -> Bool {
    let text = trimmed(value)
    var port = text[text.endIndex...]
    if text.first == UInt8(ascii: "[") {
        guard let end = text.firstIndex(of: UInt8(ascii: "]")) else { return false }
        let address = text[text.startIndex + 1..<end]
        guard let first = address.first, hexDigit(first) != nil || first == UInt8(ascii: ":"),
            address.contains(UInt8(ascii: ":")),
            address.allSatisfy({ isLetterOrDigit($0) || ":.%-_~".utf8.contains($0) })
        else { return false }
        port = text[(end + 1)...]
    } else {
        let end = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        guard percentDecoded(text[..<end]) != nil,
            text[..<end].allSatisfy({ isLetterOrDigit($0) || "-._~!$&'()*+;=%".utf8.contains($0) })
        else { return false }
        port = text[end...]
    }
    return port.isEmpty || port.first == UInt8(ascii: ":") && port.dropFirst().allSatisfy(isDigit)
}

private func allSatisfy(_ bytes: Span<UInt8>, _ predicate: (UInt8) -> Bool) -> Bool {
    for index in 0..<bytes.count where !predicate(bytes[index]) { return false }
    return true
}

/// - Parameter text: in lower case, as long as the bytes.
private func equals(_ bytes: Span<UInt8>, _ text: String) -> Bool {
    var index = 0
    for byte in text.utf8 {
        guard lowercase(bytes[index]) == byte else { return false }
        index += 1
    }
    return true
}

private func bytes(_ span: Span<UInt8>) -> [UInt8] {
    (0..<span.count).map { span[$0] }
}

/// What the server answers itself, before the route closure is asked.
public struct HTTPRefusal: Sendable {
    /// 400, 401, 411, 414, 429, 431 or 503.
    public let status: Int
    /// Fields that the status needs.
    public let headers: [(name: String, value: String)]
    /// Why, in one line.
    public let line: String

    public init(_ status: Int, headers: [(name: String, value: String)] = [], _ line: String) {
        self.status = status
        self.headers = headers
        self.line = line
    }

    static let unauthorized = HTTPRefusal(
        401, headers: [("WWW-Authenticate", "Basic")], "a user and a password are needed")

    static func busy(_ line: String) -> HTTPRefusal {
        HTTPRefusal(503, headers: [("Retry-After", "1")], line)
    }
}
