/// A decoded message: its readings and rejections, to which ``ReadingStore/record(_:feed:)`` adds the store's.
public struct FeedMessage: ~Copyable, Sendable {
    private(set) var readings: [Reading] = []
    /// Details of the readings, in their order; shorter if the last ones have none.
    private(set) var extras: [CityExtras?] = []
    /// Number of readings that are elements without a value.
    private var completionCount = 0
    /// Buffer with the readings' names: all texts of the message, then names that were numbers.
    var names: [UInt8] = []
    /// Rejections of elements, or of the whole message.
    public private(set) var rejections = RejectionCounts()
    /// The first element, or the message, that was rejected for each reason.
    public private(set) var rejected = [RejectionReason: MessageExcerpt]()
    /// The message as a whole; `nil` if it has readings, or was not decoded.
    public internal(set) var excerpt: MessageExcerpt?
    /// Whether a reading has the time of its arrival because its own time lacks a zone.
    public internal(set) var hasTimesWithoutZone = false
    /// Whether a reading has the time of its arrival because its own, in the default field, cannot be read.
    public internal(set) var hasUnreadableTimes = false
    /// Unknown names in objects of concentrations or sub-indices.
    var unknownPollutants = BoundedReport()
    /// Identifies the message in the store.
    var id: UInt64 = 0
    /// Number of readings that the store has accepted.
    var acceptedCount: UInt64 = 0
    /// Whether the store has accepted a reading.
    public var hasAcceptedReadings: Bool { acceptedCount > 0 }
    /// Number of readings of a city already seen in the same message, or from another feed.
    public internal(set) var duplicates = 0
    /// The first ten cities of duplicates, of those that were in no earlier message while the store has had them.
    public private(set) var duplicateNames: [String] = []
    /// The number of these cities, named or not.
    public private(set) var duplicateCityCount = 0
    /// Cities that the store's limit rejects, each in one message only, at most ten in the store's life.
    public internal(set) var namesBeyondLimit: [String] = []
    /// Whether nothing in the message could be a reading, as in a heartbeat, a greeting or an empty array.
    public var isWithoutReadings: Bool { !hasReadings && rejections.isEmpty }
    /// Whether any element has a city and a value.
    var hasReadings: Bool { readings.count > completionCount }
    /// Size of the received payload.
    let byteCount: Int
    /// When the complete message had arrived.
    let receivedAt: Timestamp

    public init(byteCount: Int, receivedAt: Timestamp) {
        self.byteCount = byteCount
        self.receivedAt = receivedAt
    }

    /// Creates a message that is rejected without being decoded, for example because it is too large.
    public init(
        rejectedAs reason: RejectionReason, _ excerpt: MessageExcerpt = MessageExcerpt(), byteCount: Int,
        receivedAt: Timestamp
    ) {
        self.init(byteCount: byteCount, receivedAt: receivedAt)
        rejections[reason] = 1
        rejected[reason] = excerpt
        self.excerpt = excerpt
    }

    /// Uses the memory of an earlier message.
    mutating func reuse(_ readings: inout [Reading], _ names: inout [UInt8]) {
        swap(&self.readings, &readings)
        swap(&self.names, &names)
    }

    mutating func reserve(_ count: Int) { readings.reserveCapacity(count) }

    @inline(__always)
    mutating func append(_ reading: Reading) {
        if !reading.hasValue { completionCount += 1 }
        readings.append(reading)
    }

    /// Adds details of the reading with this index, the next one.
    mutating func add(_ details: CityExtras, to reading: Int) {
        while extras.count < reading { extras.append(nil) }
        extras.append(details)
    }

    /// Whether any element has no value.
    var hasCompletions: Bool { completionCount > 0 }
    var hasDetails: Bool { !extras.isEmpty }

    /// The details of a reading; `nil` if it has none.
    @inline(__always)
    func details(of reading: Int) -> CityExtras? { reading < extras.count ? extras[reading] : nil }

    /// - Parameter excerpt: makes an excerpt of the element; called for the first rejection of each reason.
    mutating func reject(as reason: RejectionReason, _ excerpt: () -> MessageExcerpt) {
        if rejections[reason] == 0 { rejected[reason] = excerpt() }
        rejections[reason] += 1
    }

    /// Rejects a reading that only the store could judge.
    mutating func reject(_ reading: Reading, as reason: RejectionReason) {
        let name = String(decoding: names[reading.nameRange], as: UTF8.self)
        reject(as: reason) {
            var excerpt = MessageExcerpt()
            excerpt.city = name
            if reading.hasValue { excerpt.value = "\(reading.aqi)" }
            if reason == .badTime { excerpt.problem = "older than the newest reading of the city" }
            return excerpt
        }
    }

    /// Adds a city of a duplicate that was in no earlier message.
    mutating func noteDuplicate(of city: [UInt8]) {
        duplicateCityCount += 1
        guard duplicateNames.count < BoundedReport.maximumCount else { return }
        duplicateNames.append(String(decoding: city, as: UTF8.self))
    }

    /// Says what is wrong with a message that was rejected whole.
    public mutating func explain(_ reason: RejectionReason, problem: String?) { rejected[reason]?.problem = problem }

    /// Readings whose AQI is in range. The store rejects the others, and late readings.
    public var accepted: some Collection<(city: String, aqi: Double)> {
        let names = names
        return readings.lazy.filter { $0.hasValue && AQIRange.isValid($0.aqi) }.map {
            (String(decoding: names[$0.nameRange], as: UTF8.self), $0.aqi)
        }
    }
}
