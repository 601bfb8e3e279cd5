/// The source of a feed's readings.
public struct FeedSource: Sendable, Hashable {
    /// The field of the handshake's response in which a feed names its source.
    public static let fieldName = "Air-Quality-Source"

    public var name: String
    /// `model`, `stations`, or empty.
    public var kind: String
    public var license: String

    public init(name: String, kind: String = "", license: String = "") {
        self.name = name
        self.kind = kind
        self.license = license
    }
}
