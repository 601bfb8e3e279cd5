internal import CCurl

/// Asks HTTP servers, one request at a time.
///
/// The client reuses connections, speaks HTTP/2 if the server offers it, accepts gzip, uses the proxy from
/// `http_proxy`, `https_proxy` and `no_proxy`, and verifies HTTPS certificates. The client follows redirects only to
/// the same host, so that the content of a request goes nowhere else. To be used on one thread.
public struct HTTPClient: ~Copyable {
    private static let maximumRedirects = 5
    private static let isReady = CCurl_initialize() == CURLE_OK

    private let configuration: HTTPClientConfiguration
    private let handle: CurlHandle

    public init(_ configuration: HTTPClientConfiguration) throws(HTTPFailure) {
        guard Self.isReady, let handle = CurlHandle() else { throw HTTPFailure(.other, "libcurl cannot start") }
        self.configuration = configuration
        self.handle = handle
    }

    /// Requests an address and waits for the whole response, whatever its status, but for redirects.
    /// - Parameter isWanted: called on this thread at least once a second; false ends the request as `cancelled`.
    public func get(
        _ request: HTTPClientRequest, whileWanted isWanted: @escaping () -> Bool = { true }
    ) throws(HTTPFailure) -> HTTPClientResponse {
        var request = request
        for _ in 0...Self.maximumRedirects {
            let (response, redirect) = try handle.perform(request, configuration, isWanted)
            guard let redirect else { return response }
            let target = HTTPOrigin(redirect)
            guard let origin = HTTPOrigin(request.url), let target, origin.mayRedirect(to: target) else {
                let shown = target.map { "\($0)" } ?? "an address that is neither http nor https"
                throw HTTPFailure(.redirect, "the response \(response.status) redirects to \(shown)")
            }
            request.url = redirect
        }
        throw HTTPFailure(.redirect, "more than \(Self.maximumRedirects) redirects in a row")
    }
}
