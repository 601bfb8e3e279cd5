/// A decoded message: its readings and rejections, to which ``ReadingStore/record(_:feed:)`` adds the store's.
public struct FeedMessage: ~Copyable, Sendable {
    var readings: [Reading] = []
    /// Details of each reading; empty if the feed has none.
    var extras: [CityExtras?] = []
    /// Buffer with the readings' names: all texts of the message, then names that were numbers.
    var names: [UInt8] = []
    /// Number of elements, including rejected ones.
    var elementCount = 0
    /// Rejections of elements, or of the whole message.
    public private(set) var rejections = RejectionCounts()
    /// Position of the first element, from 0, that was rejected for each reason.
    public private(set) var firstRejected = [RejectionReason: Int]()
    /// Whether a reading has the time of its arrival because its own time lacks a zone.
    public internal(set) var hasTimesWithoutZone = false
    /// Unknown names in objects of concentrations or sub-indices.
    var unknownPollutants = BoundedReport()
    /// Number of elements for cities of other shards.
    var skipped = 0
    /// The elements that a program has extracted; `nil` without one or if it failed.
    public internal(set) var elements: [UInt8]?
    /// The program's error message if it failed.
    public var complaint: String?
    /// The message's number in the store.
    var number: UInt64 = 0
    /// Number of readings that the store has accepted.
    var acceptedCount: UInt64 = 0
    /// Number of readings of a city already seen in the same message, or from another feed.
    public internal(set) var duplicates = 0
    /// Cities of duplicates, each in one message only while the store has the city.
    public internal(set) var duplicateNames: [String] = []
    /// Cities that the store's limit rejects, each in one message only, at most ten in the store's life.
    public internal(set) var namesBeyondLimit: [String] = []
    /// Whether nothing in the message could be a reading, as in a heartbeat, a greeting or an empty array.
    public var isWithoutReadings: Bool { readings.isEmpty && rejections.isEmpty && skipped == 0 }
    /// Size of the received payload.
    let byteCount: Int
    /// When the complete message had arrived.
    let receivedAt: Timestamp

    public init(byteCount: Int, receivedAt: Timestamp) {
        self.byteCount = byteCount
        self.receivedAt = receivedAt
    }

    /// Creates a message that is rejected without being decoded, for example because it is too large.
    public init(rejectedAs reason: RejectionReason, byteCount: Int, receivedAt: Timestamp) {
        self.init(byteCount: byteCount, receivedAt: receivedAt)
        rejections[reason] = 1
    }

    mutating func reject(_ element: Int, as reason: RejectionReason) {
        if rejections[reason] == 0 { firstRejected[reason] = element }
        rejections[reason] += 1
    }

    /// Whether the element was decoded, so that only the store can have rejected it.
    public func isReading(_ element: Int) -> Bool { readings.contains { $0.element == element } }

    /// Readings whose index is in range. The store rejects the others, and late readings.
    public var accepted: some Collection<(city: String, index: Double)> {
        let names = names
        return readings.lazy.filter { IndexRange.isValid($0.index) }.map {
            (String(decoding: names[$0.nameRange], as: UTF8.self), $0.index)
        }
    }
}
