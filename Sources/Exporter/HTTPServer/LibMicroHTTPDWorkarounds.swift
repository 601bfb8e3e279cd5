internal import CLibMicroHTTPD
internal import Glibc

// What libmicrohttpd gets wrong or cannot do, and what is done instead. All of it was seen in 0.9.75. Each has a test that
// fails without it.
//
// Not here, because the whole of a file is about it:
// - It cannot stop listening while it runs: `MHD_quiesce_daemon` races with the daemon's thread, and the loser aborts the
//   process. Nor does it serve several sockets. So `HTTPAcceptor` accepts. (HTTPListenTests)
// - Its time-out begins again with each byte, so a client that sends or takes one now and then would stay indefinitely.
//   `HTTPConnections` has deadlines. (HTTPLimitsTests.slowLorisConnectionsAreHungUpOnAndHarmNobody, aSlowReaderIsHungUpOn)
// - It takes a certificate at its start and never another one. `TLSContext` gives each session its own.
//   (HTTPTLSTests.aNewCertificateReachesNewConnectionsAndKeepsOldOnes)
// - It ends a failed TLS handshake without an alert, and tells nobody. `TLSHandshake` does. (HTTPTLSFailureTests)
// - Its epoll loop takes 128 events at a time and, after exactly so many, waits for one more before it looks at any;
//   and it misses the end of a client that comes with its last bytes. Its poll loop does neither and costs a scrape the
//   same; each turn of it costs 0.5 ms with 2,000 connections open. (HTTPLimitsTests.requestsThatComeTogetherAreAllAnswered,
//   aClientThatLeavesAtOnceIsForgotten)

/// Bytes for each connection: what has come, the parsed fields, and the answer's header. All of it is zeroed after each request (`MHD_pool_reset`), so more costs time.
///
/// What has come takes half of it, and grows by an eighth of what is left, or by 128 bytes when that is little: with a
/// header of 16 KiB to 17.2 KiB. A hundred fields take 6.3 KiB.
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
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
        return unsafe HTTPRequestTarget(
            parsing: Span(_unsafeElements: bytes.assumingMemoryBound(to: UInt8.self)), limit: limit)
    }

    /// Leaves nothing behind the `?`. To be called before libmicrohttpd reads the query.
    ///
    /// - Symptom: it takes the query apart at 64 bytes a parameter, forgets that it has refused the request when there is
    ///   no room for all of them, and never answers.
    /// - Instead: we read the query ourselves, before.
    /// - Test: HTTPServerTests.manyParametersAndCookies.
    func hideQuery() {
        if let query = unsafe strchr(start, Int32(UInt8(ascii: "?"))), unsafe query[1] != 0 { unsafe query[1] = 0 }
    }
}

extension MHDConnection {
    /// Has libmicrohttpd look for no content and no cookies. To be called before the header is read; false without room.
    ///
    /// - Symptom: after it has refused a request itself (two lengths, a length that is not a number), it continues with
    ///   the request and sends a response with a second header in its content (`parse_connection_headers`,
    ///   `transmit_error_response_len`). The same happens when there is no room for the parsed cookies.
    /// - Instead: it is given a `Content-Length` of 0 and a short `Cookie` in front of all other fields, because it
    ///   uses the first field of a name. `HTTPFraming` checks the fields that the client has sent.
    /// - Test: HTTPGarbageTests.isRefused, HTTPServerTests.contentEndsTheConnection, manyParametersAndCookies.
    func hideContent() -> Bool { setHiddenFields() }

    /// How many fields `hideContent` puts in front of those that the client has sent.
    static let hiddenFieldCount = 2

    /// Judges the header as it was sent.
    ///
    /// - Symptom: the library hands out nothing of what follows a NUL in a target, a name or a value. A line that begins
    ///   with a NUL or a colon ends the header (`process_broken_line`), and what follows is the next request. A line that
    ///   begins with a blank continues the *name* of the field before it.
    /// - Instead: we look at its memory, where the header is as received, except that the ends of lines and names are
    ///   NULs. If a field does not begin where the one before it ends, there are bytes in between that the library did
    ///   not report. A NUL in front of a lone line feed stays undetected, because it looks like a carriage return.
    /// - Test: HTTPHeaderTests.isRefused.
    func framing(_ line: MHDRequestLine, targetBytes: Int) -> HTTPFraming {
        var scan = unsafe HeaderScan()
        let method = unsafe UnsafeRawBufferPointer(start: line.method, count: strlen(line.method))
        unsafe scan.framing.add(method: method)
        if keepsHeaderInPlace {
            if unsafe line.url != line.method + method.count + 1 || line.version != line.url + targetBytes + 1 {
                unsafe scan.framing.note(.requestLine)
            }
            unsafe scan.position = behindLine(line.version + strlen(line.version))
        }
        unsafe withUnsafeMutablePointer(to: &scan) { unsafe visitFields(scannedField, $0) }
        if let position = unsafe scan.position {
            // The empty line is left, or nothing of it where it looks like the end of the line before.
            let left = unsafe line.method + headerBytes - position
            if !(0...2).contains(left) || !(0..<left).allSatisfy({ unsafe position[$0] == 0 }) {
                unsafe scan.framing.note(.lines)
            }
        }
        return unsafe scan.framing
    }
}

/// Later versions refuse all of this themselves, and may have the header elsewhere.
private let keepsHeaderInPlace = unsafe String(cString: MHD_get_version()).hasPrefix("0.")

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
private func behindLine(_ end: UnsafePointer<CChar>) -> UnsafePointer<CChar> {
    unsafe end[1] == 0 ? end + 2 : end + 1
}

/// What `scannedField` has seen of a header.
@unsafe private struct HeaderScan {
    var framing = HTTPFraming()
    var hiddenFields = MHDConnection.hiddenFieldCount
    /// Where the next field must begin; nil: anywhere.
    var position: UnsafePointer<CChar>?
}

/// Called by libmicrohttpd for each field; corresponds to `MHD_KeyValueIteratorN`.
@c(airquality_http_scanned_field)
private func scannedField(
    context: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?, nameLength: Int,
    value: UnsafePointer<CChar>?, valueLength: Int
) -> MHD_Result {
    guard let context = unsafe context, let name = unsafe name, let value = unsafe value else { return .NO }
    let scan = unsafe context.assumingMemoryBound(to: HeaderScan.self)
    guard unsafe scan.pointee.hiddenFields == 0 else {
        unsafe scan.pointee.hiddenFields -= 1
        return .YES
    }
    if unsafe scan.pointee.position != nil {
        guard unsafe scan.pointee.position == name else {
            unsafe scan.pointee.framing.note(.lines)
            unsafe scan.pointee.position = nil
            return .NO
        }
        unsafe scan.pointee.position = behindLine(value + valueLength)
    }
    unsafe scan.pointee.framing.add(
        name: UnsafeRawBufferPointer(start: name, count: nameLength),
        value: UnsafeRawBufferPointer(start: value, count: valueLength))
    return .YES
}

extension MHDConnection {
    /// The value of a header field whatever the case of its name; several lines of one name are joined with `, `
    /// (RFC 9110, section 5.3).
    ///
    /// - Symptom: `MHD_lookup_connection_value` gives the first line only.
    /// - Instead: all fields are looked at.
    /// - Test: HTTPServerTests.headerFieldsAreFoundInAnyCaseAndJoined.
    func header(_ name: String) -> String? {
        unsafe name.withCString { start in
            var search = unsafe FieldSearch(name: start, nameLength: name.utf8.count)
            unsafe withUnsafeMutablePointer(to: &search) { unsafe visitFields(fieldFound, $0) }
            return unsafe search.value
        }
    }
}

extension MHDConnection {
    /// The fields that the client has sent.
    var fields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        unsafe withUnsafeMutablePointer(to: &fields) { unsafe visitFields(fieldCopied, $0) }
        return Array(fields.dropFirst(MHDConnection.hiddenFieldCount))
    }
}

/// Called by libmicrohttpd for each header line; corresponds to `MHD_KeyValueIteratorN`.
@c(airquality_http_field_copied)
private func fieldCopied(
    context: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?, nameLength: Int,
    value: UnsafePointer<CChar>?, valueLength: Int
) -> MHD_Result {
    guard let fields = unsafe context?.assumingMemoryBound(to: [(name: String, value: String)].self) else { return .NO }
    let name = unsafe String(decoding: UnsafeRawBufferPointer(start: name, count: nameLength), as: UTF8.self)
    let value = unsafe String(decoding: UnsafeRawBufferPointer(start: value, count: valueLength), as: UTF8.self)
    unsafe fields.pointee.append((name, value))
    return .YES
}

/// What `fieldFound` looks for and has found.
@unsafe private struct FieldSearch {
    let name: UnsafePointer<CChar>
    let nameLength: Int
    var value: String?
}

/// Called by libmicrohttpd for each header line; corresponds to `MHD_KeyValueIteratorN`.
@c(airquality_http_field_found)
private func fieldFound(
    context: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?, nameLength: Int,
    value: UnsafePointer<CChar>?, valueLength: Int
) -> MHD_Result {
    guard let context = unsafe context, let name = unsafe name else { return .YES }
    let search = unsafe context.assumingMemoryBound(to: FieldSearch.self)
    // Nobody calls setlocale, so these are the letters of ASCII.
    guard unsafe nameLength == search.pointee.nameLength, unsafe strncasecmp(name, search.pointee.name, nameLength) == 0
    else { return .YES }
    let line = unsafe String(decoding: UnsafeRawBufferPointer(start: value, count: valueLength), as: UTF8.self)
    unsafe search.pointee.value = search.pointee.value.map { $0 + ", " + line } ?? line
    return .YES
}

/// `POLLRDHUP` of poll(2), which glibc's headers give to `_GNU_SOURCE` only.
private let endOfPeer: Int16 = 0x2000

/// Those of the sockets whose peer has closed its side, or the connection.
///
/// - Symptom: the library does not look at suspended connections, so a request that waits, and a stream without events,
///   would outlive its client.
/// - Instead: `HTTPSuspensions` asks for them now and then.
/// - Test: HTTPStreamTests.endsWhenItsClientHasGone.
func abandonedSockets(of sockets: some Sequence<Int32>) -> [Int32] {
    var entries = sockets.map { pollfd(fd: $0, events: endOfPeer, revents: 0) }
    guard !entries.isEmpty, unsafe poll(&entries, nfds_t(entries.count), 0) > 0 else { return [] }
    return entries.filter { $0.revents != 0 }.map(\.fd)
}

/// Makes a response without a length one that can answer HEAD.
///
/// - Symptom: the library would send the end of content in chunks behind the header.
/// - Instead: the answer is one for a client that knows no chunks, and the connection's last. Corresponds to
///   `MHD_RF_HTTP_1_0_COMPATIBLE_STRICT`.
/// - Test: HTTPStreamTests.theHeadOfADocumentHasNoLengthAndNoContent.
func leaveOutContent(of response: OpaquePointer) { unsafe CLibMicroHTTPD_end_with_connection(response) }
