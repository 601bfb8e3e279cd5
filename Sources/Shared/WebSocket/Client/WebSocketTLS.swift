/// TLS settings of `wss://` addresses; files are PEM, read for each connection.
public struct WebSocketTLS: Sendable, Equatable {
    /// The authorities to trust instead of the system's.
    public var caFile: String?
    public var certificateFile: String?
    public var keyFile: String?
    /// Neither the certificate's issuer nor its name nor its dates are checked.
    public var skipsVerification = false

    /// Reads the files as a connection does.
    public func check() throws(TLSFileError) {
        if caFile != nil || certificateFile != nil { _ = try OpenSSLContext(self) }
    }
}
