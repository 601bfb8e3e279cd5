internal import CLibMicroHTTPD
internal import Glibc

/// Workarounds for libmicrohttpd. `Sources/README.md` lists the versions that need them, and tests that fail without.
enum LibMicroHTTPD {
    /// Debian 12: libmicrohttpd 0.9.75. Later versions reject malformed requests themselves.
    static let isVersion0 = unsafe String(cString: MHD_get_version()).hasPrefix("0.")

    /// Strictness of the library itself. 0.9.75 continues after its own rejections, so this server rejects instead;
    /// 1.0, unless strict, joins folded fields unseen, and redirects a request with a blank in its target.
    static let strictness = isVersion0 ? 0 : 1

    /// Bytes per connection for received data, parsed fields and the response's header. All of it is zeroed after
    /// each request (`MHD_pool_reset`), so more costs time.
    ///
    /// Received data takes half of it and grows by an eighth of the rest, or by 128 bytes if that is little. A header
    /// of 16 KiB fits beside a hundred fields, which take 6.3 KiB, and 4 KiB of configured fields in the response.
    static let connectionMemory = 28 * 1024

    /// Copies the target of a request and cuts the original after its `?`. Call it before the query is parsed.
    ///
    /// libmicrohttpd takes 64 bytes for each query parameter; without room for all of them, it forgets that it has
    /// rejected the request and never responds.
    static func takeTarget(_ start: UnsafePointer<CChar>) -> [UInt8] {
        let target = unsafe Array(UnsafeRawBufferPointer(start: start, count: strlen(start)))
        if let query = unsafe strchr(start, Int32(UInt8(ascii: "?"))), unsafe query[1] != 0 { unsafe query[1] = 0 }
        return target
    }

    /// Hides content, expectations and cookies from libmicrohttpd before it parses the header; `false` without room.
    ///
    /// After 0.9.75 rejects a request itself (two lengths, a length that is not a number, no room for the parsed
    /// cookies), it continues with the request and sends a response with a second header in its content
    /// (`parse_connection_headers`). It sends `100 Continue` for a request without content, then loses it and the
    /// next one. It uses the first field of a name, so a `Content-Length` of 0, a meaningless `Expect` and a short
    /// `Cookie` go in front of all others; `hasContent` checks those of the client. Version 1 stops at its
    /// rejections, one of which is a length beside chunks, so it gets only the cookie.
    static func hideContent(of connection: OpaquePointer) -> Bool {
        unsafe CLibMicroHTTPD_hide_content(connection, isVersion0 ? 1 : 0) != 0
    }
}
