internal import CCurl
public import System

public struct HTTPClientConfiguration: Sendable {
    public var userAgent: String
    /// From the first byte sent, or the search for the host, to the last byte received.
    public var timeout: Duration = .seconds(30)
    /// Of a response's body when it is decompressed.
    public var maximumBodyBytes = 8 << 20
    /// Certificate authorities in PEM; nil = the system's.
    public var authorities: [UInt8]?

    public init(userAgent: String) { self.userAgent = userAgent }
}

/// Asks HTTP servers, one request at a time.
///
/// It reuses connections, speaks HTTP/2 if the server offers it, accepts gzip, uses the proxy from `http_proxy`,
/// `https_proxy` and `no_proxy`, and verifies HTTPS certificates. It follows redirects only to the same host, so that
/// the content of a request goes nowhere else. To be used on one thread, except for its `HTTPCancellation`.
public struct HTTPClient: ~Copyable {
    private static let maximumRedirects = 5
    private static let isReady = CCurl_initialize() == CURLE_OK

    private let configuration: HTTPClientConfiguration
    private let handle: CurlHandle
    private let cancellation: HTTPCancellation

    public init(_ configuration: HTTPClientConfiguration, cancellation: HTTPCancellation) throws(HTTPFailure) {
        guard Self.isReady, let handle = CurlHandle() else { throw HTTPFailure(.other, "libcurl cannot start") }
        self.configuration = configuration
        self.handle = handle
        self.cancellation = cancellation
    }

    /// The response, whatever its status, but for redirects.
    public func get(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPResponse {
        var request = request
        for _ in 0...Self.maximumRedirects {
            let (response, redirect) = try handle.perform(request, configuration, cancellation)
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

/// Cancels a client's requests and the waits between them, now and later.
public final class HTTPCancellation: Sendable {
    private let cancelled: WakePipe

    public init() throws(SystemError) { cancelled = try WakePipe() }

    /// Any thread: requests end within a second, waits at once.
    public func cancel() { cancelled.wake() }

    public var isCancelled: Bool { cancelled.wait(.zero) }

    /// Returns false when it was cancelled.
    public func wait(for duration: Duration) -> Bool { !cancelled.wait(duration) }
}
