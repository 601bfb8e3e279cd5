internal import CLibMicroHTTPD
internal import Glibc
internal import HTTPText

/// The header of a request, where libmicrohttpd has it.
@safe struct MHDHeader {
    let method: UnsafePointer<CChar>
    let url: UnsafePointer<CChar>
    let version: UnsafePointer<CChar>

    var methodText: String { unsafe String(cString: method) }

    /// The first version had none.
    var needsHost: Bool { unsafe strcmp(version, "HTTP/1.0") != 0 }

    /// The fields, as they were sent.
    ///
    /// Debian 12: the header must be without gaps; later versions reject such lines, or have the header elsewhere.
    /// Nothing is handed out of what follows a NUL in a target, a name or a value. A line that begins with a NUL or a
    /// colon ends the header (`process_broken_line`), and what follows is the next request. A line that begins with a
    /// blank continues the *name* of the field before it. So we look at the library's memory, where the header is as
    /// received, but for NULs at the ends of lines and names: each field must begin where the one before it ends. A NUL
    /// in front of a lone line feed stays undetected, because it looks like a carriage return.
    func fields(of connection: OpaquePointer, targetBytes: Int) throws(HTTPResponse) -> [HTTPField] {
        let headerBytes = unsafe CLibMicroHTTPD_header_size(connection)
        guard headerBytes <= HTTPLimits.headerBytes else {
            throw HTTPResponse(status: 431, line: "the request's header is longer than \(HTTPLimits.headerBytes) bytes")
        }
        var fields = unsafe Fields(next: behindLine(version + strlen(version)))
        unsafe withUnsafeMutablePointer(to: &fields) {
            _ = unsafe MHD_get_connection_values_n(connection, .HEADER_KIND, httpField, $0)
        }
        guard fields.fields.count <= HTTPLimits.fields else {
            throw HTTPResponse(status: 431, line: "the request's header has more than \(HTTPLimits.fields) fields")
        }
        let isLineWhole = unsafe url == method + strlen(method) + 1 && version == url + targetBytes + 1
        guard methodText.utf8.allSatisfy(isTokenCharacter), isLineWhole || !LibMicroHTTPD.isVersion0 else {
            throw HTTPResponse(status: 400, line: "the request line is malformed")
        }
        guard unsafe !LibMicroHTTPD.isVersion0 || fields.isWhole(until: method + headerBytes) else {
            throw HTTPResponse(status: 400, line: "a line of the header begins with a blank or has a NUL in it")
        }
        return fields.fields
    }
}

/// The fields of a header, as libmicrohttpd reports one after the other.
@safe private struct Fields {
    var fields: [HTTPField] = []
    /// Fields of `LibMicroHTTPD.hideContent` that are still to come. Debian 12: all three are there.
    var hiddenFields = LibMicroHTTPD.isVersion0 ? 3 : 1
    /// Where the next field must begin, if there is one.
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

    /// Whether the fields follow each other, and the empty line them, or nothing where it looks like the end of the
    /// line before.
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

/// Behind the end of a line, which has become one NUL or two.
private func behindLine(_ end: UnsafePointer<CChar>) -> UnsafePointer<CChar> { unsafe end[1] == 0 ? end + 2 : end + 1 }
