/// A GET request.
public struct HTTPClientRequest: Sendable, Equatable {
    /// With scheme and host; may hold secrets, so it is never part of an error.
    public var url: String
    /// Header lines without line ends, `Name: value`.
    public var headers: [String]

    public init(url: String, headers: [String] = []) {
        self.url = url
        self.headers = headers
    }
}
