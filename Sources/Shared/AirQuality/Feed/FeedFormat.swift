/// The fields of a feed's messages, and the cities to keep.
public struct FeedFormat: Sendable {
    /// Path to the array.
    public var items: [[UInt8]]
    /// A field of the elements, or a JSON Pointer into them where it begins with `/`; so are the others.
    public var cityField: String
    public var valueField: String
    /// Field with the time; empty: readings have the time of their arrival.
    public var timeField: String
    /// Milliseconds east of UTC of times that name no zone; `nil`: such a reading has the time of its arrival.
    public var timeZone: Int64?
    /// Field with the concentrations; empty: they are not read.
    public var pollutantsField: String
    /// Field with the sub-indices; empty: they are not read.
    public var subindicesField: String
    /// Field with the place; empty: it is not read.
    public var placeField: String
    /// The cities to keep; `nil`: all.
    public var shard: Shard?

    public init(
        items: [[UInt8]] = [], cityField: String = "city", valueField: String = "aqi", timeField: String = "",
        timeZone: Int64? = nil, pollutantsField: String = "", subindicesField: String = "", placeField: String = "",
        shard: Shard? = nil
    ) {
        self.items = items
        self.cityField = cityField
        self.valueField = valueField
        self.timeField = timeField
        self.timeZone = timeZone
        self.pollutantsField = pollutantsField
        self.subindicesField = subindicesField
        self.placeField = placeField
        self.shard = shard
    }

    /// The families that readings may bring values of.
    public var families: Set<CityFamilyName> {
        let fields: [CityFamilyName: String] = [
            .concentration: pollutantsField, .subindex: subindicesField, .place: placeField,
        ]
        return Set(CityFamilyName.allCases.filter { fields[$0] != "" })
    }
}
