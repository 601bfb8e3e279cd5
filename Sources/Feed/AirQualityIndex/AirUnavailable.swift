/// The reason why there is no index.
public struct AirUnavailable: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String

    /// - Parameter description: of however many bytes; its first 400 Unicode scalars are kept.
    public init(_ description: String) { self.description = String(description.unicodeScalars.prefix(400)) }
}
