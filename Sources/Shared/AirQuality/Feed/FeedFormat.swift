internal import JSON

/// The fields of a feed's messages.
public struct FeedFormat: Sendable {
    /// Path from the message to the array of elements.
    public var items: [[UInt8]]
    /// Path from the element to the city; likewise for the fields below.
    public var city: [[UInt8]]
    public var value: [[UInt8]]
    /// Path to the time; if empty, readings have the time of their arrival.
    public var time: [[UInt8]]
    /// Milliseconds east of UTC of times without a zone; if `nil`, such readings have the time of their arrival.
    public var timeZone: Int64?
    /// Path to the concentrations; like the two below, empty if they are not read.
    public var pollutants: [[UInt8]]
    public var subindices: [[UInt8]]
    public var place: [[UInt8]]

    /// - Parameter cityField: a field of the element, or a valid JSON Pointer into the element if it begins with `/`;
    ///   likewise the other fields, which are not read if empty.
    public init(
        items: [[UInt8]] = [], cityField: String = "city", valueField: String = "aqi", timeField: String = "",
        timeZone: Int64? = nil, pollutantsField: String = "", subindicesField: String = "", placeField: String = ""
    ) {
        func path(_ field: String) -> [[UInt8]] { field.isEmpty ? [] : jsonPointer(member: field)! }
        self.items = items
        city = path(cityField)
        value = path(valueField)
        time = path(timeField)
        self.timeZone = timeZone
        pollutants = path(pollutantsField)
        subindices = path(subindicesField)
        place = path(placeField)
    }
}
