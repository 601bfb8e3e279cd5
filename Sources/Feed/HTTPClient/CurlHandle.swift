internal import Bytes
internal import CCurl
internal import HTTPText
internal import System

/// The one owner of a `CURL`, which keeps its connections from one transfer to the next.
@safe struct CurlHandle: ~Copyable {
    /// Time until the connection and its TLS stand.
    private static let connectTimeout: Duration = .seconds(10)

    private let handle: UnsafeMutableRawPointer

    /// `nil` when there is no memory.
    init?() {
        guard let handle = unsafe curl_easy_init() else { return nil }
        unsafe self.handle = handle
    }

    deinit { unsafe curl_easy_cleanup(handle) }

    /// - Returns: the response, and where it leads when it is a redirect.
    func perform(
        _ request: HTTPClientRequest, _ configuration: HTTPClientConfiguration, _ isWanted: @escaping () -> Bool
    ) throws(HTTPFailure) -> (HTTPClientResponse, redirect: String?) {
        guard !request.url.utf8.contains(0), let headers = HeaderList(request.headers) else {
            throw HTTPFailure(.other, "the request has a control character or too many bytes")
        }
        let transfer = Transfer(maximumBodyBytes: configuration.maximumBodyBytes, isWanted)
        var message = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
        let result: CURLcode = unsafe message.withUnsafeMutableBytes { message in
            setOptions(request, configuration)
            unsafe CCurl_setPointer(handle, CURLOPT_HTTPHEADER, headers.list)
            unsafe CCurl_setPointer(handle, CURLOPT_ERRORBUFFER, message.baseAddress)
            let owner = unsafe Unmanaged.passUnretained(transfer).toOpaque()
            unsafe CCurl_setPointer(handle, CURLOPT_WRITEDATA, owner)
            unsafe CCurl_setCallback(handle, CURLOPT_WRITEFUNCTION, httpBody)
            unsafe CCurl_setPointer(handle, CURLOPT_HEADERDATA, owner)
            unsafe CCurl_setCallback(handle, CURLOPT_HEADERFUNCTION, httpHeader)
            unsafe CCurl_setPointer(handle, CURLOPT_XFERINFODATA, owner)
            unsafe CCurl_setProgressCallback(handle, httpProgress)
            let result = unsafe curl_easy_perform(handle)
            unsafe CCurl_setPointer(handle, CURLOPT_ERRORBUFFER, nil)
            return result
        }
        let status = unsafe CCurl_status(handle)
        let redirect = unsafe CCurl_redirectURL(handle).map { unsafe String(cString: $0) }
        if transfer.isCancelled { throw HTTPFailure(.cancelled, "the program ends") }
        if let excess = transfer.excess { throw HTTPFailure(.tooLarge, excess) }
        // As `Transfer` says it: libcurl's own words differ from version to version.
        if result == CURLE_FILESIZE_EXCEEDED { throw HTTPFailure(.tooLarge, transfer.tooLong) }
        guard result == CURLE_OK else {
            let end = message.firstIndex(of: 0) ?? 0
            let text = end > 0 ? String(decoding: message[..<end].map(UInt8.init), as: UTF8.self) : ""
            let detail = text.isEmpty ? unsafe String(cString: curl_easy_strerror(result)) : text
            throw HTTPFailure(reason(of: result), SystemError(.peer, detail).reason)
        }
        return (HTTPClientResponse(status: status, headers: transfer.headers, body: transfer.body), redirect)
    }

    private func setOptions(_ request: HTTPClientRequest, _ configuration: HTTPClientConfiguration) {
        unsafe curl_easy_reset(handle)
        unsafe CCurl_setText(handle, CURLOPT_URL, request.url)
        unsafe CCurl_setText(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        unsafe CCurl_setText(handle, CURLOPT_USERAGENT, configuration.userAgent)
        // All that this libcurl can decompress.
        unsafe CCurl_setText(handle, CURLOPT_ACCEPT_ENCODING, "")
        if let authorities = configuration.authorities {
            unsafe authorities.withUnsafeBytes { bytes in
                _ = unsafe CCurl_setBytes(handle, CURLOPT_CAINFO_BLOB, bytes.baseAddress, bytes.count)
            }
        }
        unsafe CCurl_setNumber(handle, CURLOPT_TIMEOUT_MS, Int(configuration.timeout.pollMilliseconds))
        let connectTimeout = min(Self.connectTimeout, configuration.timeout)
        unsafe CCurl_setNumber(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(connectTimeout.pollMilliseconds))
        unsafe CCurl_setNumber(handle, CURLOPT_MAXFILESIZE, configuration.maximumBodyBytes)
        // Signals are the main thread's.
        unsafe CCurl_setNumber(handle, CURLOPT_NOSIGNAL, 1)
        // The responses of a proxy to CONNECT are none of the server's.
        unsafe CCurl_setNumber(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    }
}

/// The one owner of a `curl_slist`.
@safe private struct HeaderList: ~Copyable {
    let list: UnsafeMutablePointer<curl_slist>?

    /// `nil` when a line is not one line or there is no memory.
    init?(_ lines: [String]) {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            let isOneLine = !line.utf8.contains { $0 < 0x20 || $0 == 0x7F }
            guard isOneLine, let longer = unsafe curl_slist_append(list, line) else {
                unsafe curl_slist_free_all(list)
                return nil
            }
            unsafe list = longer
        }
        unsafe self.list = list
    }

    deinit { unsafe curl_slist_free_all(list) }
}

/// Corresponds to `curl_write_callback`; anything but the number of bytes ends the transfer.
@c(airquality_http_body)
func httpBody(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, owner: UnsafeMutableRawPointer?
) -> Int {
    guard let owner = unsafe owner else { return 0 }
    let transfer = unsafe Unmanaged<Transfer>.fromOpaque(owner).takeUnretainedValue()
    return unsafe transfer.receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
}

/// Corresponds to `curl_write_callback`, for each line of the header.
@c(airquality_http_header)
func httpHeader(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, owner: UnsafeMutableRawPointer?
) -> Int {
    guard let owner = unsafe owner else { return 0 }
    let transfer = unsafe Unmanaged<Transfer>.fromOpaque(owner).takeUnretainedValue()
    return unsafe transfer.receive(headerLine: UnsafeRawBufferPointer(start: bytes, count: size * count))
        ? size * count : 0
}

/// Called at least once a second; anything but 0 ends the transfer. Corresponds to `curl_xferinfo_callback`.
@c(airquality_http_progress)
func httpProgress(
    owner: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, _: curl_off_t
) -> Int32 {
    guard let owner = unsafe owner else { return 1 }
    return unsafe Unmanaged<Transfer>.fromOpaque(owner).takeUnretainedValue().goOn() ? 0 : 1
}

private func reason(of result: CURLcode) -> HTTPFailure.Reason {
    switch result {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .resolve
    case CURLE_COULDNT_CONNECT, CURLE_PROXY: .connect
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
        CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED:
        .tls
    case CURLE_OPERATION_TIMEDOUT: .timeout
    case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
        .lost
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_URL_MALFORMAT:
        .malformed
    default: .other
    }
}
