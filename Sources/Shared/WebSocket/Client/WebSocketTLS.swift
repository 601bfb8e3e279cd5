/// TLS settings for `wss://` addresses; the files are PEM and are read for each connection.
public struct WebSocketTLS: Sendable, Equatable {
    /// Authorities to trust instead of the system's.
    public var caFile: String?
    public var certificateFile: String?
    public var keyFile: String?
    /// Whether the certificate's issuer, name and dates are left unchecked.
    public var skipsVerification = false

    /// Loads the files as a connection would.
    public func check() throws(TLSFileError) {
        if caFile != nil || certificateFile != nil { _ = try OpenSSLContext(self) }
    }
}
