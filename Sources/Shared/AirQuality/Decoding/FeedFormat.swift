internal import JSON

/// The fields of a feed's messages. The defaults are those of the canonical element,
/// `{"city", "aqi", "time", "pollutants", "subindices", "place"}`, all but the first two optional.
public struct FeedFormat: Sendable {
    /// The field with a reading's time.
    public struct Time: Sendable {
        /// Path to the time; if empty, readings have the time of their arrival.
        public var path: [[UInt8]]
        /// Whether the user named the field: a time that cannot be read then rejects the reading. Otherwise the reading
        /// has the time of its arrival.
        public var isNamed: Bool

        public init(path: [[UInt8]], isNamed: Bool) {
            self.path = path
            self.isNamed = isNamed
        }
    }

    /// Path from the message to the array of elements.
    public var items: [[UInt8]]
    /// Path from the element to the city; likewise for the fields below.
    public var city: [[UInt8]]
    public var value: [[UInt8]]
    public var time: Time
    /// Milliseconds east of UTC of times without a zone; if `nil`, such readings have the time of their arrival.
    public var timeZone: Int64?
    /// Path to the concentrations; like the two below, empty if they are not read.
    public var pollutants: [[UInt8]]
    public var subindices: [[UInt8]]
    public var place: [[UInt8]]

    /// - Parameters:
    ///   - cityField: a field of the element, or a valid JSON Pointer into the element if it begins with `/`; likewise
    ///     the other fields, which are not read if empty.
    ///   - timeField: as if the user had named it; `nil` is the default, `time`.
    public init(
        items: [[UInt8]] = [], cityField: String = "city", valueField: String = "aqi", timeField: String? = nil,
        timeZone: Int64? = nil, pollutantsField: String = "pollutants", subindicesField: String = "subindices",
        placeField: String = "place"
    ) {
        func path(_ field: String) -> [[UInt8]] { field.isEmpty ? [] : jsonPointer(member: field)! }
        self.items = items
        city = path(cityField)
        value = path(valueField)
        time = Time(path: path(timeField ?? "time"), isNamed: timeField != nil)
        self.timeZone = timeZone
        pollutants = path(pollutantsField)
        subindices = path(subindicesField)
        place = path(placeField)
    }
}
