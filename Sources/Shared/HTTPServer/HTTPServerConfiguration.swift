public import System

/// The addresses and the routes of an `HTTPServer`.
public struct HTTPServerConfiguration: Sendable {
    public var addresses: [ListenAddress]
    /// Serves on the sockets that systemd passes to this process, instead of on `addresses`.
    public var usesSystemdSockets = false
    /// The first route that matches a path is used.
    public var routes: [Route]
    /// Text of a 404.
    public var notFound = "not found"
    public var access = HTTPAccess()
    /// Called, on any thread, for each TLS handshake that fails after the client has sent something.
    public var onTLSHandshakeFailure: @Sendable (_ client: String, _ reason: String) -> Void = { _, _ in }

    public init(addresses: [ListenAddress], routes: [Route]) {
        self.addresses = addresses
        self.routes = routes
    }
}
