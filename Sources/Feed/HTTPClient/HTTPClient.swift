internal import CCurl

/// Asks HTTP servers, one request at a time.
///
/// The client reuses connections, speaks HTTP/2 if the server offers it, accepts gzip, uses the proxy from
/// `http_proxy`, `https_proxy` and `no_proxy`, and verifies HTTPS certificates. A redirect is a response like any
/// other: what a request carries goes to the server that it names, and nowhere else. To be used on one thread.
public struct HTTPClient: ~Copyable {
    private static let isReady = CCurl_initialize() == CURLE_OK

    private let configuration: HTTPClientConfiguration
    private let handle: CurlHandle

    public init(_ configuration: HTTPClientConfiguration) throws(HTTPFailure) {
        guard Self.isReady, let handle = CurlHandle() else { throw .failed("libcurl cannot start") }
        self.configuration = configuration
        self.handle = handle
    }

    /// Requests an address and waits for the whole response, whatever its status.
    /// - Parameter isWanted: called on this thread at least once a second; false ends the request as `cancelled`.
    public func get(
        _ request: HTTPClientRequest, whileWanted isWanted: @escaping () -> Bool = { true }
    ) throws(HTTPFailure) -> HTTPClientResponse {
        try handle.perform(request, configuration, isWanted)
    }
}
