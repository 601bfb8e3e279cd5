public import System
public import WebConfiguration

/// The addresses and the routes of an `HTTPServer`.
public struct HTTPServerConfiguration: Sendable {
    public var addresses: [ListenAddress]
    /// Serves on the sockets that systemd has opened for this process instead of on `addresses`.
    public var usesSystemdSockets = false
    /// The first route that has a path responds to it.
    public var routes: [Route]
    /// The line of a 404.
    public var notFound = "not found"
    /// TLS, passwords, headers of each response and the rate limit.
    public var web = WebConfiguration()
    /// Called, on any thread, for each TLS handshake that fails after the client has said something.
    public var onTLSHandshakeFailure: @Sendable (_ client: String, _ reason: String) -> Void = { _, _ in }

    public init(addresses: [ListenAddress], routes: [Route]) {
        self.addresses = addresses
        self.routes = routes
    }
}
