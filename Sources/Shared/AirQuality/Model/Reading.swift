import Bytes
public import JSON

/// Milliseconds since the Unix epoch, UTC, leap seconds not counted.
public typealias Timestamp = Int64

/// The range of an air quality index.
public enum IndexRange {
    public static let maximum = 9999.0

    public static func isValid(_ number: Double) -> Bool { number >= 0 && number <= maximum }
}

/// A city and its index, from an element of a message.
///
/// The decoder has checked only the format. The store checks the range of the index, because a late reading must first
/// be refused as late, and only the store knows the city's newest reading.
struct Reading: Sendable {
    /// By ``CityName/hash(_:)``.
    var nameHash: UInt64
    /// Any number that is not NaN.
    var index: Double
    var time: Timestamp
    /// The name is a run of the bytes that come with the reading, so that a reading costs no allocation.
    var nameOffset: UInt32
    var nameCount: UInt8

    var nameRange: Range<Int> { Int(nameOffset)..<Int(nameOffset) &+ Int(nameCount) }
}

/// A part of a message, decoded: the hundred or so elements that ``JSONRecordReader`` gives at once, so that the store
/// takes it in without holding its lock for long.
public struct MessagePart: Sendable {
    var readings: [Reading] = []
    /// Those that readings came with, in the readings' order, each with the reading's index among them.
    var extras: [(reading: Int, extras: CityExtras)] = []
    /// Of its elements, or of the message itself.
    var refusals = RefusalCounts()
    /// Of the refused elements those that are described.
    var refused: [RefusedElement] = []
    /// Elements of other shards' cities.
    var skipped = 0
    /// Of the whole message's payload; nil in all parts but the first.
    var messageByteCount: Int?
    /// When the whole message had arrived.
    var receivedAt: Timestamp

    /// Makes it the next part, without elements yet.
    mutating func removeAll() {
        readings.removeAll(keepingCapacity: true)
        extras.removeAll(keepingCapacity: true)
        refusals = RefusalCounts()
        refused.removeAll()
        skipped = 0
        messageByteCount = nil
    }
}

/// Description of the first element that was refused for a reason.
public struct RefusedElement: Sendable, Equatable {
    public let reason: RefusalReason
    public let shape: JSONDescription
    public let lacksCity: Bool
    public let lacksValue: Bool
}

/// The reason why a message or an element was refused: the values of the `reason` label, a closed set.
///
/// In the order in which they are looked for; an element is refused for the first one that applies.
public enum RefusalReason: String, Error, CaseIterable {
    // Whole messages.
    case tooLarge = "too_large"
    case notText = "not_text"
    case notJSON = "not_json"
    case notAnArray = "not_an_array"
    // Elements, by their form.
    case notAnObject = "not_an_object"
    case noCity = "no_city"
    case badCity = "bad_city"
    case noValue = "no_value"
    case badValue = "bad_value"
    // Readings, by what the store knows; a time may be bad by its form as well.
    case badTime = "bad_time"
    case outOfRange = "out_of_range"
    case cityLimit = "city_limit"
}

/// A count for each reason.
public struct RefusalCounts: Sendable, Equatable {
    private var counts = InlineArray<12, UInt64>(repeating: 0)

    public init() {}

    public subscript(reason: RefusalReason) -> UInt64 {
        get { counts[reason.position] }
        set { counts[reason.position] = newValue }
    }

    public static func += (left: inout RefusalCounts, right: RefusalCounts) {
        for position in right.counts.indices { left.counts[position] += right.counts[position] }
    }

    static func - (left: RefusalCounts, right: RefusalCounts) -> RefusalCounts {
        var difference = left
        for position in right.counts.indices { difference.counts[position] -= right.counts[position] }
        return difference
    }

    public static func == (left: RefusalCounts, right: RefusalCounts) -> Bool {
        left.counts.indices.allSatisfy { left.counts[$0] == right.counts[$0] }
    }
}

extension CaseIterable where Self: Equatable {
    /// Position of the case in `allCases`.
    var position: Int {
        var position = 0
        for other in Self.allCases {
            if other == self { return position }
            position += 1
        }
        return position
    }
}

/// The rules for a city's name as a label value.
///
/// Names are bytes: two Unicode spellings of a name are two cities, and cities are sorted by their bytes. Swift's
/// `String` compares by canonical equivalence, so no name is ever compared as one.
public enum CityName {
    /// Bytes of UTF-8.
    public static let maximumCount = 128

    /// The part of `bytes` that is the name: surrounding ASCII white space removed; nil when there is none that may be
    /// a label value.
    ///
    /// - Parameter bytes: well-formed UTF-8.
    public static func accepted(_ bytes: Span<UInt8>, in range: Range<Int>) -> Range<Int>? {
        let range = trimmed(bytes, in: range)
        guard !range.isEmpty, range.count <= maximumCount else { return nil }
        var previous: UInt8 = 0
        for index in range {
            let byte = bytes[index]
            if byte &- 0x20 < 0x5F { continue }
            // C0 and DEL; C1 is U+0080 … U+009F, in UTF-8 C2 80 … C2 9F.
            if byte < 0x80 || (previous == 0xC2 && byte < 0xA0) { return nil }
            previous = byte
        }
        return range
    }

    /// A hash for tables of names. Its secret is the process's, so that no feed can make names collide.
    static func hash(_ name: Span<UInt8>) -> UInt64 {
        var hasher = Hasher()
        // Eight bytes at a time, because each call costs more than the hash. No name has a NUL.
        var word: UInt64 = 0
        for index in name.indices {
            word = word << 8 | UInt64(name[index])
            if index % 8 == 7 {
                hasher.combine(word)
                word = 0
            }
        }
        hasher.combine(word)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// The range without surrounding ASCII white space: space, TAB, LF, VT, FF, CR.
    static func trimmed(_ bytes: Span<UInt8>, in range: Range<Int>) -> Range<Int> {
        Bytes.trimmed(bytes, in: range) { $0 == 0x20 || $0 &- 0x09 <= 0x04 }
    }
}
