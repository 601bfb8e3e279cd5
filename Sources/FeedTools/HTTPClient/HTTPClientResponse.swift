public import HTTPText

/// A complete response.
public struct HTTPClientResponse: Sendable, Equatable {
    public var status: Int
    /// Header fields in order of arrival, with the server's spelling of names.
    public var headers: [HTTPField] = []
    /// The decompressed body.
    public var body: [UInt8] = []
}
