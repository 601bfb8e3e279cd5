/// The data source of a feed.
public struct FeedSource: Sendable, Hashable {
    /// Header field of the handshake response that announces the source.
    public static let fieldName = "Air-Quality-Source"

    public var name: String
    /// `model`, `stations`, `simulation`, or empty.
    public var kind: String
    public var license: String

    /// Value of ``fieldName`` in the handshake of a simulated feed.
    public static let simulation = "simulated; kind=simulation"

    public init(name: String, kind: String = "", license: String = "") {
        self.name = name
        self.kind = kind
        self.license = license
    }
}
