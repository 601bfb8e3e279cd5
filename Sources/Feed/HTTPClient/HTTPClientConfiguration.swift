/// Settings of an `HTTPClient`.
public struct HTTPClientConfiguration: Sendable {
    public var userAgent: String
    /// Time from the search for the host to the last byte received.
    public var timeout: Duration = .seconds(30)
    /// Limit of a response's body when it is decompressed.
    public var maximumBodyBytes = 8 << 20
    /// Certificate authorities in PEM; `nil` = the system's.
    public var authorities: [UInt8]?

    public init(userAgent: String) { self.userAgent = userAgent }
}
