internal import CLibMicroHTTPD
internal import Glibc
internal import HTTPText

/// The header of a request in libmicrohttpd's memory.
@safe struct MHDHeader {
    let method: UnsafePointer<CChar>
    let url: UnsafePointer<CChar>
    let version: UnsafePointer<CChar>

    var methodText: String { unsafe String(cString: method) }

    /// HTTP/1.0 does not require `Host`.
    var needsHost: Bool { unsafe strcmp(version, "HTTP/1.0") != 0 }

    /// The fields as sent.
    ///
    /// Debian 12: the header must have no gaps; later versions reject such lines, or have the header elsewhere. The
    /// library reports nothing that follows a NUL in a target, a name or a value. A line that begins with a NUL or a
    /// colon ends the header (`process_broken_line`), and what follows becomes the next request. A line that begins
    /// with a blank is added to the *name* of the previous field. So this looks at the library's memory, which has
    /// the header as received, except for NULs at the ends of lines and names: each field must begin where the
    /// previous one ends. A NUL before a lone line feed stays undetected, because it looks like a carriage return.
    func fields(of connection: OpaquePointer, targetBytes: Int) throws(HTTPResponse.Rejection) -> [HTTPField] {
        let headerBytes = unsafe CLibMicroHTTPD_info(connection, .CONNECTION_INFO_REQUEST_HEADER_SIZE).header_size
        guard headerBytes <= HTTPLimits.headerBytes else {
            throw .init(status: 431, line: "the request's header is longer than \(HTTPLimits.headerBytes) bytes")
        }
        var fields = unsafe Fields(next: behindLine(version + strlen(version)))
        unsafe withUnsafeMutablePointer(to: &fields) {
            _ = unsafe MHD_get_connection_values_n(connection, .HEADER_KIND, httpField, $0)
        }
        guard fields.fields.count <= HTTPLimits.fields else {
            throw .init(status: 431, line: "the request's header has more than \(HTTPLimits.fields) fields")
        }
        let isLineWhole = unsafe url == method + strlen(method) + 1 && version == url + targetBytes + 1
        guard methodText.utf8.allSatisfy(isTokenCharacter), isLineWhole || !LibMicroHTTPD.isVersion0 else {
            throw .init(status: 400, line: "the request line is malformed")
        }
        guard unsafe !LibMicroHTTPD.isVersion0 || fields.isWhole(until: method + headerBytes) else {
            throw .init(status: 400, line: "a header line begins with a space or contains a NUL")
        }
        return fields.fields
    }
}

@safe private struct Fields {
    var fields: [HTTPField] = []
    /// Fields of `LibMicroHTTPD.hideContent` still to come: on Debian 12 all three, later only the cookie.
    var hiddenFields = LibMicroHTTPD.isVersion0 ? 3 : 1
    /// Expected start of the next field.
    var next: UnsafePointer<CChar>
    var hasGap = false

    mutating func add(name: UnsafeBufferPointer<CChar>, value: UnsafeBufferPointer<CChar>) {
        guard hiddenFields == 0 else {
            hiddenFields -= 1
            return
        }
        if unsafe name.baseAddress != next { hasGap = true }
        if let start = value.baseAddress { unsafe next = behindLine(start + value.count) }
        unsafe fields.append(
            HTTPField(
                name: String(decoding: UnsafeRawBufferPointer(name), as: UTF8.self),
                value: String(decoding: UnsafeRawBufferPointer(value), as: UTF8.self)))
    }

    /// Whether the fields are contiguous and only the empty line follows, unless it passed for part of a line end.
    func isWhole(until end: UnsafePointer<CChar>) -> Bool {
        let left = unsafe end - next
        return !hasGap && (0...2).contains(left) && (0..<left).allSatisfy { unsafe next[$0] == 0 }
    }
}

/// Called by libmicrohttpd for each field; corresponds to `MHD_KeyValueIteratorN`.
@c(airquality_http_field)
private func httpField(
    context: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?, nameLength: Int,
    value: UnsafePointer<CChar>?, valueLength: Int
) -> MHD_Result {
    unsafe context!.assumingMemoryBound(to: Fields.self).pointee.add(
        name: UnsafeBufferPointer(start: name, count: nameLength),
        value: UnsafeBufferPointer(start: value, count: valueLength))
    return .YES
}

/// Start of the line after this line end, which has become one NUL or two.
private func behindLine(_ end: UnsafePointer<CChar>) -> UnsafePointer<CChar> { unsafe end[1] == 0 ? end + 2 : end + 1 }
