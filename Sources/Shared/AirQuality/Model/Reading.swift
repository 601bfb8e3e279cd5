/// A city and its index, from an element of a message, which owns the name and the details.
///
/// The decoder has checked only the format. The store checks the range of the index, because a late reading must first
/// be rejected as late, and only the store knows the city's newest reading.
struct Reading: Sendable {
    /// Any number that is not NaN.
    var index: Double
    /// The time that the feed gave, otherwise the arrival.
    var time: Timestamp
    /// Whether the feed gave the time; only arrivals may go backwards (two feeds, a clock that is set).
    var hasOwnTime: Bool
    /// Start of the name in ``FeedMessage/names``.
    var nameStart: UInt32
    var nameCount: UInt8
    /// Place of the element in the message, from 0.
    var element: UInt32

    var nameRange: Range<Int> { Int(nameStart)..<Int(nameStart) &+ Int(nameCount) }
}
