public import HTTPText

/// A complete response.
public struct HTTPClientResponse: Sendable, Equatable {
    public var status: Int
    /// Header fields in the order of arrival, names as they came.
    public var headers: [HTTPField] = []
    /// The body, decompressed.
    public var body: [UInt8] = []
}
