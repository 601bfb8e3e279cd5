public import HTTPText

/// A complete response.
public struct HTTPClientResponse: Sendable, Equatable {
    public var status: Int
    /// Header fields in the order of arrival, names as they came.
    public var headers: HTTPFields = [:]
    /// The body, decompressed.
    public var body: [UInt8] = []

    /// The first field of that name, in any case.
    public func header(_ name: String) -> String? { headers.first(name) }
}
