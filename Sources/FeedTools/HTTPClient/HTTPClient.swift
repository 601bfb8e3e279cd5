internal import CCurl
internal import HTTPText
public import System

/// An HTTP client for one request at a time on one thread. It owns a `CURL` handle, which keeps connections open.
///
/// The client uses HTTP/2 if the server offers it, accepts compressed bodies, uses the proxy from `http_proxy`,
/// `https_proxy` and `no_proxy`, and verifies HTTPS certificates. It does not follow redirects, so that a key in a
/// request never reaches another server.
@safe public struct HTTPClient: ~Copyable {
    private static let isReady = CCurl_initialize() == CURLE_OK
    /// Time-out for connecting, including DNS and TLS.
    private static let connectTimeout: Duration = .seconds(10)

    private let maximumBodyBytes: Int
    private let handle: UnsafeMutableRawPointer

    /// - Parameters:
    ///   - timeout: from DNS lookup to the last byte received.
    ///   - maximumBodyBytes: limit of a response's decompressed body.
    ///   - authorities: certificate authorities in PEM; `nil` for the system's.
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
        // Every encoding that this libcurl supports.
        unsafe CCurl_setText(handle, CURLOPT_ACCEPT_ENCODING, "")
        if let authorities {
            unsafe authorities.withUnsafeBytes { bytes in
                _ = unsafe CCurl_setBytes(handle, CURLOPT_CAINFO_BLOB, bytes.baseAddress, bytes.count)
            }
            // Otherwise Debian's libcurl also trusts the system's directory of authorities.
            unsafe CCurl_setPointer(handle, CURLOPT_CAPATH, nil)
        }
        unsafe CCurl_setNumber(handle, CURLOPT_TIMEOUT_MS, Int(timeout.pollMilliseconds))
        unsafe CCurl_setNumber(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(Self.connectTimeout.pollMilliseconds))
        // The main thread handles signals; libcurl must not install handlers.
        unsafe CCurl_setNumber(handle, CURLOPT_NOSIGNAL, 1)
        // Otherwise cancelling a request waits for the resolver thread, which may block on a silent name server.
        unsafe CCurl_setNumber(handle, CURLOPT_QUICK_EXIT, 1)
        unsafe CCurl_setCallback(handle, CURLOPT_HEADERFUNCTION, httpBytes)
        unsafe CCurl_setCallback(handle, CURLOPT_WRITEFUNCTION, httpBytes)
        unsafe CCurl_setProgressCallback(handle, httpProgress)
    }

    deinit { unsafe curl_easy_cleanup(handle) }

    /// Sends a GET request and waits for the complete response, whatever its status.
    ///
    /// - Parameters:
    ///   - url: with scheme and host; never part of an error, because it may contain secrets.
    ///   - headers: header lines without line ends, `Name: value`.
    ///   - isWanted: called on this thread at least once a second; `false` cancels the request, which returns `nil`.
    /// - Throws: an error with a one-line reason, mostly in libcurl's words.
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
                unsafe CCurl_setPointer(handle, CURLOPT_HEADERDATA, transfer.pointer(to: \.header))
                unsafe CCurl_setPointer(handle, CURLOPT_WRITEDATA, transfer.pointer(to: \.body))
                unsafe CCurl_setPointer(handle, CURLOPT_XFERINFODATA, transfer)
                return unsafe curl_easy_perform(handle)
            }
        }
        // The result may be another error if the request fails while it is being cancelled.
        if transfer.isCancelled { return nil }
        switch result {
        case CURLE_OK:
            return HTTPClientResponse(
                status: unsafe CCurl_status(handle), headers: Self.fields(in: transfer.header.bytes),
                body: transfer.body.bytes)
        case CURLE_WRITE_ERROR where transfer.body.isTooLong:
            throw SystemError(.peer, "the body has more than \(maximumBodyBytes) bytes")
        default:
            let text = String(decoding: message.prefix { $0 != 0 }, as: UTF8.self)
            if text.utf8.starts(with: "Unsupported proxy".utf8) {
                // libcurl's message contains the proxy's password.
                throw SystemError(.peer, "libcurl does not support the proxy address in the environment")
            }
            throw SystemError(.peer, text.isEmpty ? unsafe String(cString: curl_easy_strerror(result)) : text)
        }
    }

    /// Returns the fields of the last response from the lines of all responses; trailers follow an empty line.
    ///
    /// libcurl's own functions would read all fields again for each next one.
    private static func fields(in lines: [UInt8]) -> [HTTPField] {
        let lines = lines.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
        let start = lines.lastIndex { $0.starts(with: "HTTP/".utf8) } ?? 0
        return lines[start...].prefix { !$0.isEmpty }.compactMap { HTTPField(line: $0) }
    }
}

/// Corresponds to `curl_write_callback`, for lines of headers and trailers and for the body; a result other than the
/// number of bytes ends the transfer.
@c(airquality_http_bytes)
func httpBytes(bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, owner: UnsafeMutableRawPointer?) -> Int {
    let bytes = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe owner!.assumingMemoryBound(to: Transfer.Part.self).pointee.append(bytes)
}

/// Corresponds to `curl_xferinfo_callback`, called at least once a second; a non-zero result ends the transfer.
@c(airquality_http_progress)
func httpProgress(
    owner: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, _: curl_off_t
) -> Int32 {
    unsafe owner!.assumingMemoryBound(to: Transfer.self).pointee.continues() ? 0 : 1
}
