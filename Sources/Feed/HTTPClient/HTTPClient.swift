internal import Bytes
internal import CCurl
internal import HTTPText
internal import System

/// Asks HTTP servers, one request at a time. The one owner of a `CURL`, which keeps its connections from one request to
/// the next.
///
/// The client reuses connections, speaks HTTP/2 if the server offers it, accepts gzip, uses the proxy from
/// `http_proxy`, `https_proxy` and `no_proxy`, and verifies HTTPS certificates. A redirect is a response like any
/// other: what a request carries goes to the server that it names, and nowhere else. To be used on one thread.
@safe public struct HTTPClient: ~Copyable {
    private static let isReady = CCurl_initialize() == CURLE_OK
    /// Time until the connection and its TLS stand.
    private static let connectTimeout: Duration = .seconds(10)

    private let configuration: HTTPClientConfiguration
    private let handle: UnsafeMutableRawPointer

    public init(_ configuration: HTTPClientConfiguration) throws(HTTPFailure) {
        guard Self.isReady, let handle = unsafe curl_easy_init() else { throw .failed("libcurl cannot start") }
        self.configuration = configuration
        unsafe self.handle = handle
    }

    deinit { unsafe curl_easy_cleanup(handle) }

    /// Requests an address and waits for the whole response, whatever its status.
    /// - Parameter isWanted: called on this thread at least once a second; false ends the request as `cancelled`.
    public func get(
        _ request: HTTPClientRequest, whileWanted isWanted: @escaping () -> Bool = { true }
    ) throws(HTTPFailure) -> HTTPClientResponse {
        guard !request.url.utf8.contains(0), let headers = HeaderList(request.headers) else {
            throw .failed("the request has a control character or too many bytes")
        }
        let transfer = Transfer(maximumBodyBytes: configuration.maximumBodyBytes, isWanted)
        var message = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
        let result: CURLcode = unsafe message.withUnsafeMutableBytes { message in
            setOptions(request)
            unsafe CCurl_setPointer(handle, CURLOPT_HTTPHEADER, headers.list)
            unsafe CCurl_setPointer(handle, CURLOPT_ERRORBUFFER, message.baseAddress)
            let owner = unsafe Unmanaged.passUnretained(transfer).toOpaque()
            unsafe CCurl_setPointer(handle, CURLOPT_WRITEDATA, owner)
            unsafe CCurl_setCallback(handle, CURLOPT_WRITEFUNCTION, httpBody)
            unsafe CCurl_setPointer(handle, CURLOPT_XFERINFODATA, owner)
            unsafe CCurl_setProgressCallback(handle, httpProgress)
            let result = unsafe curl_easy_perform(handle)
            unsafe CCurl_setPointer(handle, CURLOPT_ERRORBUFFER, nil)
            return result
        }
        if transfer.isCancelled { throw .cancelled }
        guard result == CURLE_OK else {
            // libcurl's own words for both cases differ from version to version.
            if transfer.isTooLong || result == CURLE_FILESIZE_EXCEEDED {
                throw .failed("the body has more than \(configuration.maximumBodyBytes) bytes")
            }
            let end = message.firstIndex(of: 0) ?? 0
            let text = String(decoding: message[..<end].map(UInt8.init), as: UTF8.self)
            let detail = text.isEmpty ? unsafe String(cString: curl_easy_strerror(result)) : text
            throw .failed(onOneLine(detail))
        }
        return HTTPClientResponse(status: unsafe CCurl_status(handle), headers: responseHeaders, body: transfer.body)
    }

    /// The header fields of the response. libcurl bounds their bytes.
    private var responseHeaders: HTTPFields {
        var headers = HTTPFields()
        var last: UnsafeMutablePointer<curl_header>?
        while let header = unsafe curl_easy_nextheader(handle, UInt32(CURLH_HEADER), -1, last) {
            let name = unsafe String(cString: header.pointee.name)
            headers.fields.append(HTTPField(name: name, value: unsafe String(cString: header.pointee.value)))
            unsafe last = header
        }
        return headers
    }

    private func setOptions(_ request: HTTPClientRequest) {
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
    }
}

/// Corresponds to `curl_write_callback`; anything but the number of bytes ends the transfer.
@c(airquality_http_body)
func httpBody(
    bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, owner: UnsafeMutableRawPointer?
) -> Int {
    guard let owner = unsafe owner else { return 0 }
    let transfer = unsafe Unmanaged<Transfer>.fromOpaque(owner).takeUnretainedValue()
    return unsafe transfer.receive(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
}

/// Called at least once a second; anything but 0 ends the transfer. Corresponds to `curl_xferinfo_callback`.
@c(airquality_http_progress)
func httpProgress(
    owner: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, _: curl_off_t
) -> Int32 {
    guard let owner = unsafe owner else { return 1 }
    return unsafe Unmanaged<Transfer>.fromOpaque(owner).takeUnretainedValue().goOn() ? 0 : 1
}
