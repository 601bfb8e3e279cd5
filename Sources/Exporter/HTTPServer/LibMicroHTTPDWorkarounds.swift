internal import CLibMicroHTTPD
internal import Glibc
internal import HTTPText

// Faults of libmicrohttpd, and what is done instead. `Sources/README.md` says which version needs it, and which
// test fails without it.

/// Debian 12: libmicrohttpd 0.9.75. Later versions reject what is malformed themselves, and may have the header
/// elsewhere.
let isVersion0 = unsafe String(cString: MHD_get_version()).hasPrefix("0.")

/// How strict the library is itself: 0.9.75 continues after its own rejections, so they are ours. 1.0, unless it is to
/// be strict, joins folded fields before anybody sees them, and redirects a request with a blank in its target.
let strictness = isVersion0 ? 0 : 1

/// Bytes for each connection: what has come, the parsed fields, and the response's header. All of it is zeroed after
/// each request (`MHD_pool_reset`), so more costs time.
///
/// The bytes that have come take half of it, and it grows by an eighth of what is left, or by 128 bytes when that is
/// little: with a header of 16 KiB to 17.2 KiB. A hundred fields take 6.3 KiB.
let connectionMemory = 24 * 1024

/// Copies the target of a request, and leaves nothing behind its `?`. To be called before the query is read.
///
/// libmicrohttpd takes the query apart at 64 bytes a parameter, forgets that it has rejected the request when there is
/// no room for all of them, and never answers.
func takeTarget(_ start: UnsafePointer<CChar>) -> [UInt8] {
    let target = unsafe Array(UnsafeRawBufferPointer(start: start, count: strlen(start)))
    if let query = unsafe strchr(start, Int32(UInt8(ascii: "?"))), unsafe query[1] != 0 { unsafe query[1] = 0 }
    return target
}

/// The request line, where libmicrohttpd has it.
@safe struct MHDRequestLine {
    let method: UnsafePointer<CChar>
    let url: UnsafePointer<CChar>
    let version: UnsafePointer<CChar>

    var methodText: String { unsafe String(cString: method) }

    /// The first version had none.
    var needsHost: Bool { unsafe strcmp(version, "HTTP/1.0") != 0 }
}

extension HTTPConnection {
    /// Has libmicrohttpd look for no content, no expectation and no cookies. To be called before the header is read;
    /// false without room.
    ///
    /// After it has rejected a request itself (two lengths, a length that is not a number, no room for the parsed
    /// cookies), it continues with the request and sends a response with a second header in its content
    /// (`parse_connection_headers`). It sends `100 Continue` for a request without content, and then loses it and the
    /// one behind it. So it is given a `Content-Length` of 0, an empty `Expect` and a short `Cookie` in front of all
    /// other fields, because it uses the first field of a name; `HTTPFraming` checks those of the client. Version 1
    /// stops at its rejections, and one is that of a length beside chunks: it is given the cookie alone.
    func hideContent() -> Bool { unsafe CLibMicroHTTPD_hide_content(pointer, isVersion0 ? 1 : 0) != 0 }

    /// The number of fields that `hideContent` puts in front of the client's.
    /// Debian 12: the length and the expectation are among them.
    private static let hiddenFieldCount = isVersion0 ? 3 : 1

    /// The fields of the header, as they were sent.
    ///
    /// - Throws: the reason why they cannot be read.
    func fields(_ line: MHDRequestLine, targetBytes: Int) throws(HTTPRejection) -> HTTPFields {
        let headerBytes = unsafe CLibMicroHTTPD_header_size(pointer)
        guard headerBytes <= HTTPLimits.headerBytes else {
            throw HTTPRejection(431, "the request's header is longer than \(HTTPLimits.headerBytes) bytes")
        }
        var fields: [MHDField] = []
        unsafe withUnsafeMutablePointer(to: &fields) {
            _ = unsafe MHD_get_connection_values_n(pointer, .HEADER_KIND, httpField, $0)
        }
        fields.removeFirst(min(Self.hiddenFieldCount, fields.count))
        guard fields.count <= HTTPLimits.fields else {
            throw HTTPRejection(431, "the request's header has more than \(HTTPLimits.fields) fields")
        }
        guard line.methodText.utf8.allSatisfy(isTokenCharacter) else {
            throw HTTPRejection(400, "the request line is malformed")
        }
        // Debian 12: later versions reject such lines, or have the header elsewhere.
        if isVersion0 { try checkPlaces(of: fields, line, targetBytes: targetBytes, headerBytes: headerBytes) }
        return HTTPFields(
            fields.map {
                unsafe HTTPField(
                    name: String(decoding: $0.name, as: UTF8.self), value: String(decoding: $0.value, as: UTF8.self))
            })
    }

    /// Rejects a header of which the library has not reported all.
    ///
    /// Nothing is handed out of what follows a NUL in a target, a name or a value. A line that begins with a NUL or a
    /// colon ends the header (`process_broken_line`), and what follows is the next request. A line that begins with a
    /// blank continues the *name* of the field before it. So we look at its memory, where the header is as received,
    /// but for NULs at the ends of lines and names: each field must begin where the one before it ends. A NUL in front
    /// of a lone line feed stays undetected, because it looks like a carriage return.
    private func checkPlaces(
        of fields: [MHDField], _ line: MHDRequestLine, targetBytes: Int, headerBytes: Int
    ) throws(HTTPRejection) {
        let methodEnd = unsafe line.method + strlen(line.method)
        guard unsafe line.url == methodEnd + 1, unsafe line.version == line.url + targetBytes + 1 else {
            throw HTTPRejection(400, "the request line is malformed")
        }
        let defect = HTTPRejection(400, "a line of the header begins with a blank or has a NUL in it")
        var position = unsafe behindLine(line.version + strlen(line.version))
        for field in fields {
            guard unsafe field.name.baseAddress == UnsafeRawPointer(position),
                let value = unsafe field.value.baseAddress
            else { throw defect }
            unsafe position = behindLine(value.assumingMemoryBound(to: CChar.self) + field.value.count)
        }
        // The empty line is left, or nothing of it where it looks like the end of the line before.
        let left = unsafe line.method + headerBytes - position
        guard (0...2).contains(left), (0..<left).allSatisfy({ unsafe position[$0] == 0 }) else { throw defect }
    }
}

/// A field of a header, where libmicrohttpd has it.
@safe private struct MHDField {
    let name: UnsafeRawBufferPointer
    let value: UnsafeRawBufferPointer
}

/// Called by libmicrohttpd for each field; corresponds to `MHD_KeyValueIteratorN`.
@c(airquality_http_field)
private func httpField(
    context: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?, nameLength: Int,
    value: UnsafePointer<CChar>?, valueLength: Int
) -> MHD_Result {
    let fields = unsafe context!.assumingMemoryBound(to: [MHDField].self)
    unsafe fields.pointee.append(
        MHDField(
            name: UnsafeRawBufferPointer(start: name, count: nameLength),
            value: UnsafeRawBufferPointer(start: value, count: valueLength)))
    return .YES
}

/// Behind the end of a line, which has become one NUL or two.
private func behindLine(_ end: UnsafePointer<CChar>) -> UnsafePointer<CChar> { unsafe end[1] == 0 ? end + 2 : end + 1 }
