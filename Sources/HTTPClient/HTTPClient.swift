internal import CCurl

public struct HTTPClientConfiguration: Sendable {
    public var userAgent: String
    /// From the first byte sent, or the search for the host, to the last byte received.
    public var timeout: Duration = .seconds(30)
    /// Of that, until the connection and its TLS stand.
    public var connectTimeout: Duration = .seconds(10)
    /// Of a response's body when it is decompressed.
    public var maximumBodyBytes = 8 << 20
    /// Certificate authorities in PEM; nil = the system's.
    public var caFile: String?

    public init(userAgent: String) {
        self.userAgent = userAgent
    }
}

/// Asks HTTP servers, one request at a time.
///
/// Connections are kept and used again. HTTP/2 where the server offers it, gzip, the proxy that `http_proxy`, `https_proxy`
/// and `no_proxy` name, HTTPS with the certificate checked. A redirect is followed on the same host alone: whatever the
/// request carries goes nowhere else. Of one thread, but for its `HTTPCancellation`.
public struct HTTPClient: ~Copyable {
    private static let maximumRedirects = 5
    private static let isReady = CCurl_initialize() == CURLE_OK

    private let configuration: HTTPClientConfiguration
    private let handles: CurlHandles

    public init(_ configuration: HTTPClientConfiguration, cancellation: HTTPCancellation) throws(HTTPFailure) {
        guard Self.isReady, let handles = CurlHandles(cancellation: cancellation) else {
            throw HTTPFailure(.other, "libcurl cannot start")
        }
        self.configuration = configuration
        self.handles = handles
    }

    /// The response, whatever its status, but for redirects.
    public func get(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPResponse {
        var request = request
        for _ in 0...Self.maximumRedirects {
            let (response, redirect) = try handles.perform(request, configuration: configuration)
            guard let redirect else { return response }
            guard let origin = HTTPOrigin(request.url), let target = HTTPOrigin(redirect),
                origin.mayRedirect(to: target)
            else {
                let target = HTTPOrigin(redirect).map { "\($0)" } ?? "an address that is none of http or https"
                throw HTTPFailure(.redirect, "the answer \(response.status) leads to \(target)")
            }
            request.url = redirect
        }
        throw HTTPFailure(.redirect, "more than \(Self.maximumRedirects) one after the other")
    }

    /// Waits; false when it was cancelled.
    public func wait(for duration: Duration) -> Bool {
        handles.wait(for: duration)
    }
}
