/// The reason why there is no index.
public struct AirUnavailable: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}
