/// A place to report on, as the list of cities has it.
public struct PolledCity: Sendable, Equatable {
    public var name: String
    public var latitude: Double
    public var longitude: Double
    /// Name that the source has for it; `nil` when it is found by its place or its name.
    public var id: String?
    /// Two letters of ISO 3166, where the list of cities has them.
    public var country: String?

    public init(name: String, latitude: Double, longitude: Double, id: String? = nil, country: String? = nil) {
        self.name = name
        self.latitude = latitude
        self.longitude = longitude
        self.id = id
        self.country = country
    }
}
