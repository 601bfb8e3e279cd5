internal import CCurl
internal import HTTPText
public import System

/// Asks HTTP servers, one request at a time, on one thread. The one owner of a `CURL`, which keeps its connections.
///
/// The client speaks HTTP/2 if the server offers it, accepts gzip, uses the proxy from `http_proxy`, `https_proxy` and
/// `no_proxy`, and verifies HTTPS certificates. A redirect is a response like any other: what a request carries goes to
/// the server that it names, and nowhere else.
@safe public struct HTTPClient: ~Copyable {
    private static let isReady = CCurl_initialize() == CURLE_OK
    /// Time until the connection and its TLS stand.
    private static let connectTimeout: Duration = .seconds(10)

    private let maximumBodyBytes: Int
    private let handle: UnsafeMutableRawPointer

    /// - Parameters:
    ///   - timeout: from the search for the host to the last byte received.
    ///   - maximumBodyBytes: limit of a response's body when it is decompressed.
    ///   - authorities: certificate authorities in PEM; `nil` = the system's.
    public init(
        userAgent: String, timeout: Duration, maximumBodyBytes: Int, authorities: [UInt8]?
    ) throws(SystemError) {
        guard Self.isReady, let handle = unsafe curl_easy_init() else {
            throw SystemError(.system, "libcurl cannot start")
        }
        self.maximumBodyBytes = maximumBodyBytes
        unsafe self.handle = handle
        unsafe CCurl_setText(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        unsafe CCurl_setText(handle, CURLOPT_USERAGENT, userAgent)
        // All that this libcurl can decompress.
        unsafe CCurl_setText(handle, CURLOPT_ACCEPT_ENCODING, "")
        if let authorities {
            unsafe authorities.withUnsafeBytes { bytes in
                _ = unsafe CCurl_setBytes(handle, CURLOPT_CAINFO_BLOB, bytes.baseAddress, bytes.count)
            }
            // Debian's libcurl would trust the system's folder beside them.
            unsafe CCurl_setPointer(handle, CURLOPT_CAPATH, nil)
        }
        unsafe CCurl_setNumber(handle, CURLOPT_TIMEOUT_MS, Int(timeout.pollMilliseconds))
        unsafe CCurl_setNumber(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(Self.connectTimeout.pollMilliseconds))
        // Signals are the main thread's.
        unsafe CCurl_setNumber(handle, CURLOPT_NOSIGNAL, 1)
        // Otherwise the end of a request waits for the thread that asks a name server, however silent that is.
        unsafe CCurl_setNumber(handle, CURLOPT_QUICK_EXIT, 1)
        unsafe CCurl_setCallback(handle, CURLOPT_WRITEFUNCTION, httpBody)
        unsafe CCurl_setProgressCallback(handle, httpProgress)
    }

    deinit { unsafe curl_easy_cleanup(handle) }

    /// Requests an address by GET and waits for the whole response, whatever its status.
    ///
    /// - Parameters:
    ///   - url: with scheme and host; may hold secrets, so it is never part of an error.
    ///   - headers: header lines without line ends, `Name: value`.
    ///   - isWanted: called on this thread at least once a second; false ends the request, which returns `nil`.
    /// - Throws: an error with one line for people, mostly in libcurl's words.
    public func get(
        _ url: String, headers: [String] = [], whileWanted isWanted: @escaping () -> Bool = { true }
    ) throws(SystemError) -> HTTPClientResponse? {
        guard !url.utf8.contains(0), headers.allSatisfy({ $0.utf8.allSatisfy(isFieldContent) }) else {
            throw SystemError(.system, "the request has a control character")
        }
        var list: UnsafeMutablePointer<curl_slist>?
        defer { unsafe curl_slist_free_all(list) }
        for line in headers { unsafe list = curl_slist_append(list, line) }
        var transfer = Transfer(maximumBodyBytes: maximumBodyBytes, isWanted: isWanted)
        var message = [UInt8](repeating: 0, count: Int(CURL_ERROR_SIZE))
        let result: CURLcode = unsafe message.withUnsafeMutableBytes { message in
            unsafe CCurl_setText(handle, CURLOPT_URL, url)
            unsafe CCurl_setPointer(handle, CURLOPT_HTTPHEADER, list)
            unsafe CCurl_setPointer(handle, CURLOPT_ERRORBUFFER, message.baseAddress)
            defer { unsafe CCurl_setPointer(handle, CURLOPT_ERRORBUFFER, nil) }
            return unsafe withUnsafeMutablePointer(to: &transfer) { transfer in
                unsafe CCurl_setPointer(handle, CURLOPT_WRITEDATA, transfer)
                unsafe CCurl_setPointer(handle, CURLOPT_XFERINFODATA, transfer)
                return unsafe curl_easy_perform(handle)
            }
        }
        // libcurl does not say so where the request fails at that moment.
        if transfer.isCancelled { return nil }
        switch result {
        case CURLE_OK:
            let status = unsafe CCurl_status(handle)
            return HTTPClientResponse(status: status, headers: responseHeaders, body: transfer.body)
        case CURLE_WRITE_ERROR:
            throw SystemError(.peer, "the body has more than \(maximumBodyBytes) bytes")
        default:
            let text = String(decoding: message.prefix { $0 != 0 }, as: UTF8.self)
            if text.utf8.starts(with: "Unsupported proxy".utf8) {
                // Its words show the password.
                throw SystemError(.peer, "the proxy of the environment is no address that libcurl takes")
            }
            throw SystemError(.peer, text.isEmpty ? unsafe String(cString: curl_easy_strerror(result)) : text)
        }
    }

    /// The header fields of the response. libcurl bounds their bytes.
    private var responseHeaders: [HTTPField] {
        var headers: [HTTPField] = []
        var last: UnsafeMutablePointer<curl_header>?
        while let header = unsafe curl_easy_nextheader(handle, UInt32(CURLH_HEADER), -1, last) {
            let name = unsafe String(cString: header.pointee.name)
            headers.append(HTTPField(name: name, value: unsafe String(cString: header.pointee.value)))
            unsafe last = header
        }
        return headers
    }
}

/// Corresponds to `curl_write_callback`; anything but the number of bytes ends the transfer.
@c(airquality_http_body)
func httpBody(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, owner: UnsafeMutableRawPointer?
) -> Int {
    let bytes = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    guard let transfer = unsafe owner?.assumingMemoryBound(to: Transfer.self),
        unsafe transfer.pointee.body.count + bytes.count <= transfer.pointee.maximumBodyBytes
    else { return 0 }
    unsafe transfer.pointee.body.append(contentsOf: bytes)
    return bytes.count
}

/// Called at least once a second; anything but 0 ends the transfer. Corresponds to `curl_xferinfo_callback`.
@c(airquality_http_progress)
func httpProgress(
    owner: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, _: curl_off_t
) -> Int32 {
    guard let transfer = unsafe owner?.assumingMemoryBound(to: Transfer.self) else { return 1 }
    if unsafe !transfer.pointee.isWanted() { unsafe transfer.pointee.isCancelled = true }
    return unsafe transfer.pointee.isCancelled ? 1 : 0
}
