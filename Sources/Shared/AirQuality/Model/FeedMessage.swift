/// A decoded message: its readings, and what was rejected of it. ``ReadingStore/record(_:feed:)`` takes it in.
public struct FeedMessage: ~Copyable, Sendable {
    var readings: [Reading] = []
    /// Details that came with each of the readings; empty where the feed has none.
    var extras: [CityExtras?] = []
    /// Bytes that the names of the readings are runs of: all texts of the message, and more.
    var names: [UInt8] = []
    /// Number of elements, also of those that are no readings.
    var elementCount = 0
    /// Rejections of elements, or of the message itself, by reason.
    public var rejections = RejectionCounts()
    /// The first element that the decoder rejected for each reason, counted from 0 in the message.
    public internal(set) var firstRejected = [RejectionReason: Int]()
    /// Whether a reading stands with its arrival, because its time names no zone.
    public internal(set) var hasTimesWithoutZone = false
    /// Names in objects of concentrations that are none of the closed set.
    var unknownPollutants = BoundedReport()
    /// Number of elements that name cities of other shards.
    var skipped = 0
    /// Whether the message holds nothing that could be a reading: a heartbeat, a greeting, an empty array.
    public var isWithoutReadings = false
    /// Bytes of the whole message's payload.
    var byteCount: Int
    /// When the whole message had arrived.
    var receivedAt: Timestamp

    /// Makes a message without readings, whose payload had `byteCount` bytes.
    public init(byteCount: Int, receivedAt: Timestamp) {
        self.byteCount = byteCount
        self.receivedAt = receivedAt
    }

    /// Makes a message that is rejected without being decoded, for example because it is too large.
    public init(rejectedAs reason: RejectionReason, byteCount: Int, receivedAt: Timestamp) {
        self.init(byteCount: byteCount, receivedAt: receivedAt)
        rejections[reason] = 1
    }

    /// Takes everything out but the memory of readings and names.
    mutating func empty() {
        readings.removeAll(keepingCapacity: true)
        names.removeAll(keepingCapacity: true)
        elementCount = 0
        skipped = 0
        hasTimesWithoutZone = false
        isWithoutReadings = false
        if !extras.isEmpty { extras = [] }
        if !unknownPollutants.names.isEmpty { unknownPollutants = BoundedReport() }
        if !rejections.isEmpty {
            rejections = RejectionCounts()
            firstRejected = [:]
        }
    }

    /// The place of a reading's element in the message, from 0.
    public func element(ofReading place: Int) -> Int { Int(readings[place].element) }

    var isEmpty: Bool { readings.isEmpty && rejections.isEmpty && skipped == 0 }

    /// The readings whose index is in range: the store rejects others, and late ones.
    public var accepted: some Collection<(city: String, index: Double)> {
        let names = names
        return readings.lazy.filter { IndexRange.isValid($0.index) }.map {
            (String(decoding: names[$0.nameRange], as: UTF8.self), $0.index)
        }
    }
}
