/// A city and its AQI, from one element of a message, which owns the name and the details.
///
/// The decoder has checked only the format. The store checks the range of the AQI, because a late reading must be
/// rejected as late first, and only the store knows the city's newest reading.
struct Reading: Sendable {
    /// Any number but NaN; 0 without a value.
    var aqi: Double
    /// Whether the element has a value. Without one it can only complete what is known of its city.
    var hasValue: Bool
    /// The time from the feed, or else of arrival.
    var time: Timestamp
    /// Whether the feed gave the time. If older than the newest reading's, it is rejected; an arrival time is raised.
    var hasOwnTime: Bool
    /// Start of the name in ``FeedMessage/names``.
    var nameStart: UInt32
    var nameCount: UInt8

    var nameRange: Range<Int> { Int(nameStart)..<Int(nameStart) &+ Int(nameCount) }
}
