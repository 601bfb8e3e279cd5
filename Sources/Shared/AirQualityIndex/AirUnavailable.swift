/// Why no AQI can be computed.
public struct AirUnavailable: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String

    /// - Parameter description: cut to 400 Unicode scalars.
    public init(_ description: String) { self.description = String(description.unicodeScalars.prefix(400)) }
}
