internal import Bytes
internal import CLibMicroHTTPD
internal import Glibc
internal import HTTPText

// What libmicrohttpd gets wrong or cannot do, and what is done instead. `Sources/README.md` says which version needs
// it; each has a test that fails without it.
//
// Not here, because the whole of a file is about it:
// - Its limit of connections may lock it up, and its time-out begins again with each byte: `ConnectionTable`.
// - It serves one listening socket: `HTTPServer` has a daemon for each.
// - It takes the certificate that it serves at its start, and tells nobody of a failed handshake: `TLSHandshake`.

/// Bytes for each connection: what has come, the parsed fields, and the response's header. All of it is zeroed after
/// each request (`MHD_pool_reset`), so more costs time.
///
/// The bytes that have come take half of it, and it grows by an eighth of what is left, or by 128 bytes when that is
/// little: with a header of 16 KiB to 17.2 KiB. A hundred fields take 6.3 KiB.
let connectionMemory = 24 * 1024

/// The target of a request, where libmicrohttpd has it.
@safe struct MHDRequestTarget {
    private let start: UnsafePointer<CChar>

    init?(_ start: UnsafePointer<CChar>?) {
        guard let start = unsafe start else { return nil }
        unsafe self.start = start
    }

    /// How far it goes for C.
    var count: Int { unsafe strlen(start) }

    func parsed(limit: Int) -> HTTPRequestTarget {
        unsafe HTTPRequestTarget(parsing: Array(UnsafeRawBufferPointer(start: start, count: count)), limit: limit)
    }

    /// Leaves nothing behind the `?`. To be called before libmicrohttpd reads the query.
    ///
    /// - Symptom: it takes the query apart at 64 bytes a parameter, forgets that it has rejected the request when there
    ///   is no room for all of them, and never answers.
    /// - Instead: we read the query ourselves, before.
    /// - Test: HTTPServerTests, many parameters and cookies.
    func hideQuery() {
        if let query = unsafe strchr(start, Int32(UInt8(ascii: "?"))), unsafe query[1] != 0 { unsafe query[1] = 0 }
    }
}

extension MHDConnection {
    /// Has libmicrohttpd look for no content, no expectation and no cookies. To be called before the header is read;
    /// false without room.
    ///
    /// - Symptom: after it has rejected a request itself (two lengths, a length that is not a number), it continues
    ///   with the request and sends a response with a second header in its content (`parse_connection_headers`,
    ///   `transmit_error_response_len`). The same happens when there is no room for the parsed cookies. It sends `100
    ///   Continue` for a request without content, and then loses it and the one behind it.
    /// - Instead: it is given a `Content-Length` of 0, an empty `Expect` and a short `Cookie` in front of all other
    ///   fields, because it uses the first field of a name. `HTTPFraming` checks the fields that the client has sent.
    ///   Version 1 stops at its rejections, and one is that of a length beside chunks: it is given the cookie alone.
    /// - Test: test_requests.py, HTTPServerTests.
    func hideContent() -> Bool { unsafe CLibMicroHTTPD_hide_content(pointer, isVersion0 ? 1 : 0) != 0 }

    /// The number of fields that `hideContent` puts in front of the client's.
    /// Debian 12: the length and the expectation are among them.
    static let hiddenFieldCount = isVersion0 ? 3 : 1

    /// The header as it was sent, and what is wrong with it.
    ///
    /// - Symptom: the library hands out nothing of what follows a NUL in a target, a name or a value. A line that
    ///   begins with a NUL or a colon ends the header (`process_broken_line`), and what follows is the next request. A
    ///   line that begins with a blank continues the *name* of the field before it.
    /// - Instead: we look at its memory, where the header is as received, except that the ends of lines and names are
    ///   NULs. If a field does not begin where the one before it ends, there are bytes in between that the library did
    ///   not report. A NUL in front of a lone line feed stays undetected, because it looks like a carriage return.
    /// - Test: HTTPHeaderTests.
    func header(_ line: MHDRequestLine, targetBytes: Int) -> (framing: HTTPFraming, fields: HTTPFields) {
        var framing = HTTPFraming()
        var fields: [HTTPField] = []
        framing.add(method: line.methodText.utf8)
        // Where the next field must begin; nil: anywhere.
        var position: UnsafePointer<CChar>?
        // Debian 12: later versions reject such lines, or have the header elsewhere.
        if isVersion0 {
            let methodEnd = unsafe line.method + strlen(line.method)
            if unsafe line.url != methodEnd + 1 || line.version != line.url + targetBytes + 1 {
                framing.note(.requestLine)
            }
            unsafe position = behindLine(line.version + strlen(line.version))
        }
        unsafe forEachField { name, value in
            if let start = unsafe position {
                guard unsafe name.baseAddress == UnsafeRawPointer(start), let last = value.baseAddress else {
                    framing.note(.lines)
                    unsafe position = nil
                    return false
                }
                unsafe position = behindLine(last.assumingMemoryBound(to: CChar.self) + value.count)
            }
            let field = unsafe HTTPField(
                name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self))
            framing.add(name: field.name.utf8, value: field.value.utf8)
            fields.append(field)
            return true
        }
        if let position = unsafe position {
            // The empty line is left, or nothing of it where it looks like the end of the line before.
            let left = unsafe line.method + headerBytes - position
            if !(0...2).contains(left) || !(0..<left).allSatisfy({ unsafe position[$0] == 0 }) { framing.note(.lines) }
        }
        return (framing, HTTPFields(fields))
    }
}

/// How strict the library is itself.
///
/// - Symptom: 0.9.75 continues after its own rejections. 1.0, unless it is to be strict, joins folded fields before
///   anybody sees them, and redirects a request with a blank in its target.
/// - Instead: the first is left to `HTTPFraming` and `HTTPRequestTarget`, the second to the library.
/// - Test: HTTPHeaderTests, test_requests.py.
let strictness = isVersion0 ? 0 : 1

/// Debian 12: libmicrohttpd 0.9.75. Later versions reject what is malformed themselves, and may have the header
/// elsewhere.
let isVersion0 = unsafe String(cString: MHD_get_version()).hasPrefix("0.")

/// The request line, where libmicrohttpd has it.
@safe struct MHDRequestLine {
    fileprivate let method: UnsafePointer<CChar>
    fileprivate let url: UnsafePointer<CChar>
    fileprivate let version: UnsafePointer<CChar>

    init?(method: UnsafePointer<CChar>?, url: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?) {
        guard let method = unsafe method, let url = unsafe url, let version = unsafe version else { return nil }
        unsafe self.method = method
        unsafe self.url = url
        unsafe self.version = version
    }

    var methodText: String { unsafe String(cString: method) }

    /// The first version had none.
    var needsHost: Bool { unsafe strcmp(version, "HTTP/1.0") != 0 }
}

/// Behind the end of a line, which has become one NUL or two.
private func behindLine(_ end: UnsafePointer<CChar>) -> UnsafePointer<CChar> { unsafe end[1] == 0 ? end + 2 : end + 1 }
