/// Data of a source that was left out or changed.
public struct Omission: Sendable, Hashable {
    /// Kind of data, such as `stations without coordinates`.
    public var reason: String
    /// Name of the station or pollutant in the source.
    public var name: String

    /// - Parameter name: cut to 200 Unicode scalars.
    public init(_ reason: String, _ name: String) {
        self.reason = reason
        self.name = String(name.unicodeScalars.prefix(200))
    }
}
