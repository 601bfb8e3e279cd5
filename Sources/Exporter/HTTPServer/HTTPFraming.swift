internal import Bytes
internal import HTTPText

/// The host and the end of a request, as its header gives them (RFC 9112, sections 3.2 and 6), and whether everybody
/// reads it the same way. What a proxy takes otherwise can hide a second request.
struct HTTPFraming: Equatable {
    private var hosts = 0
    private var lengths = 0
    private var isLengthNumber = true
    private var isLengthZero = true
    private var hasTransferCoding = false
    /// The first violation of the grammar.
    private var defect: Defect?

    enum Defect: String {
        case requestLine = "the request line is malformed"
        case lines = "a line of the header begins with a blank or has a NUL in it"
        case name = "the name of a header field is not a token"
        case value = "the value of a header field has a control character in it"
        case host = "invalid Host header"
    }

    mutating func add(method: some Collection<UInt8>) {
        if !method.allSatisfy(isTokenCharacter) { note(.requestLine) }
    }

    /// One field of the header, its name in any case.
    mutating func add(name: some Collection<UInt8>, value: some BidirectionalCollection<UInt8>) {
        if name.isEmpty || !name.allSatisfy(isTokenCharacter) { note(.name) }
        if !value.allSatisfy(isFieldContent) { note(.value) }
        switch name.count {
        case 4 where equalsIgnoringCase(name, "Host"):
            hosts += 1
            if !isHost(trimmed(Array(value))) { note(.host) }
        case 14 where equalsIgnoringCase(name, "Content-Length"):
            lengths += 1
            let digits = trimmed(value)
            isLengthNumber = !digits.isEmpty && digits.allSatisfy(isDigit)
            isLengthZero = digits.allSatisfy { $0 == UInt8(ascii: "0") }
        case 17 where equalsIgnoringCase(name, "Transfer-Encoding"): hasTransferCoding = true
        default: break
        }
    }

    mutating func note(_ defect: Defect) {
        if self.defect == nil { self.defect = defect }
    }

    /// The reason why the request cannot be answered, if so.
    /// - Parameter needsHost: false for HTTP/1.0.
    func refusal(needsHost: Bool) -> HTTPRefusal? {
        if let defect { return HTTPRefusal(400, defect.rawValue) }
        guard hosts == 1 || (hosts == 0 && !needsHost) else { return HTTPRefusal(400, "one Host field is needed") }
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

/// `host [":" port]` of RFC 3986, section 3.2, or nothing. A comma, which is allowed there, would make it a list.
private func isHost(_ text: ArraySlice<UInt8>) -> Bool {
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
        let name = text[..<end]
        guard name.allSatisfy({ isLetterOrDigit($0) || "-._~!$&'()*+;=%".utf8.contains($0) }),
            !name.contains(UInt8(ascii: "%")) || percentDecoded(name) != nil
        else { return false }
        port = text[end...]
    }
    return port.isEmpty || (port.first == UInt8(ascii: ":") && port.dropFirst().allSatisfy(isDigit))
}
