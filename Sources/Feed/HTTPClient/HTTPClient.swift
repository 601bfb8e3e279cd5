internal import CCurl
internal import Synchronization

public struct HTTPClientConfiguration: Sendable {
    public var userAgent: String
    /// From the first byte sent, or the search for the host, to the last byte received.
    public var timeout: Duration = .seconds(30)
    /// Of that, until the connection and its TLS stand.
    public var connectTimeout: Duration = .seconds(10)
    /// Of a response's body when it is decompressed.
    public var maximumBodyBytes = 8 << 20
    /// Certificate authorities in PEM; nil = the system's.
    public var authorities: [UInt8]?

    public init(userAgent: String) {
        self.userAgent = userAgent
    }
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
                let target = HTTPOrigin(redirect).map { "\($0)" } ?? "an address that is neither http nor https"
                throw HTTPFailure(.redirect, "the response \(response.status) redirects to \(target)")
            }
            request.url = redirect
        }
        throw HTTPFailure(.redirect, "more than \(Self.maximumRedirects) redirects in a row")
    }

    /// Waits; false when it was cancelled.
    public func wait(for duration: Duration) -> Bool {
        handles.wait(for: duration)
    }
}

/// Cancels a client's current request or wait, and all later ones, from any thread.
@safe public final class HTTPCancellation: Sendable {
    /// @unchecked: the pointer is only used under the lock, and taken away under it before the handle is cleaned up.
    @safe private struct State: @unchecked Sendable {
        var isCancelled = false
        var multi: UnsafeMutableRawPointer?
    }

    private let state = Mutex(State())

    public init() {}

    public func cancel() {
        state.withLock { state in
            state.isCancelled = true
            // The one function that other threads may call.
            if let multi = unsafe state.multi { unsafe curl_multi_wakeup(multi) }
        }
    }

    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func arm(_ multi: UnsafeMutableRawPointer) {
        state.withLock { unsafe $0.multi = multi }
    }

    func disarm() {
        state.withLock { unsafe $0.multi = nil }
    }
}
