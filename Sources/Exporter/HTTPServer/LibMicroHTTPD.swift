internal import CLibMicroHTTPD
internal import Glibc

/// Faults of libmicrohttpd, and what is done instead. `Sources/README.md` says which version needs it, and which test
/// fails without it.
enum LibMicroHTTPD {
    /// Debian 12: libmicrohttpd 0.9.75. Later versions reject what is malformed themselves.
    static let isVersion0 = unsafe String(cString: MHD_get_version()).hasPrefix("0.")

    /// How strict the library is itself: 0.9.75 continues after its own rejections, so they are ours. 1.0, unless it is
    /// to be strict, joins folded fields before anybody sees them, and redirects a request with a blank in its target.
    static let strictness = isVersion0 ? 0 : 1

    /// Bytes for each connection: what has come, the parsed fields, and the response's header. All of it is zeroed
    /// after each request (`MHD_pool_reset`), so more costs time.
    ///
    /// The bytes that have come take half of it, and it grows by an eighth of what is left, or by 128 bytes when that
    /// is little: with a header of 16 KiB to 17.2 KiB. A hundred fields take 6.3 KiB.
    static let connectionMemory = 24 * 1024

    /// Copies the target of a request, and leaves nothing behind its `?`. To be called before the query is read.
    ///
    /// libmicrohttpd takes the query apart at 64 bytes a parameter, forgets that it has rejected the request when there
    /// is no room for all of them, and never answers.
    static func takeTarget(_ start: UnsafePointer<CChar>) -> [UInt8] {
        let target = unsafe Array(UnsafeRawBufferPointer(start: start, count: strlen(start)))
        if let query = unsafe strchr(start, Int32(UInt8(ascii: "?"))), unsafe query[1] != 0 { unsafe query[1] = 0 }
        return target
    }

    /// Has libmicrohttpd look for no content, no expectation and no cookies. To be called before the header is read;
    /// false without room.
    ///
    /// After it has rejected a request itself (two lengths, a length that is not a number, no room for the parsed
    /// cookies), it continues with the request and sends a response with a second header in its content
    /// (`parse_connection_headers`). It sends `100 Continue` for a request without content, and then loses it and the
    /// one behind it. So it is given a `Content-Length` of 0, an empty `Expect` and a short `Cookie` in front of all
    /// other fields, because it uses the first field of a name; `hasContent` checks those of the client. Version 1
    /// stops at its rejections, and one is that of a length beside chunks: it is given the cookie alone.
    static func hideContent(of connection: OpaquePointer) -> Bool {
        unsafe CLibMicroHTTPD_hide_content(connection, isVersion0 ? 1 : 0) != 0
    }
}
