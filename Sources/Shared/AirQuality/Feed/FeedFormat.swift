/// The fields of a feed's messages, and which cities to keep.
public struct FeedFormat: Sendable {
    /// Path from the message to the array of elements.
    public var items: [[UInt8]]
    /// Field of the element, or a JSON Pointer into the element if it begins with `/`; likewise for the fields below.
    public var cityField: String
    public var valueField: String
    /// Field with the time; if empty, readings have the time of their arrival.
    public var timeField: String
    /// Milliseconds east of UTC of times without a zone; if `nil`, such readings have the time of their arrival.
    public var timeZone: Int64?
    /// Field with the concentrations; like the two below, empty if it is not read.
    public var pollutantsField: String
    public var subindicesField: String
    public var placeField: String
    /// The cities to keep; `nil` for all.
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
}
