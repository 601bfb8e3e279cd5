/// Data of a source that was left out or changed.
public struct Omission: Sendable, Hashable {
    /// Kind of data and what was done with it, such as `stations without coordinates`.
    public var reason: String
    /// Name of the station or pollutant, as the source has it.
    public var name: String

    /// - Parameter name: of however many bytes; its first 200 Unicode scalars are kept.
    public init(_ reason: String, _ name: String) {
        self.reason = reason
        self.name = String(name.unicodeScalars.prefix(200))
    }
}
