/// Why a message or an element gave no reading.
public enum NoReading: Sendable, Hashable {
    case rejected(RejectionReason)
    /// Nothing in the message could be a reading.
    case withoutReadings
}

/// An example of a rejected element, or of a message without readings, by which a person can recognise it. Its texts
/// are the feed's: escape them before they are shown. Its size is bounded, whatever the message contains.
public struct MessageExcerpt: Sendable, Equatable {
    /// Maximum size of a member's name or a value, in bytes.
    static let maximumBytes = 64
    static let maximumMembers = 12
    /// Maximum size of a server's own words, in bytes.
    static let maximumWordBytes = 200

    /// Messages and elements with the same members and type are of one kind.
    public struct Kind: Sendable, Hashable {
        /// Names of the members, in the message's order.
        public internal(set) var members: [String] = []
        /// The text of the member `type` or `event`.
        var type: String?
    }

    public internal(set) var kind = Kind()
    /// The content of the city's field, likewise of the value's and the time's; `nil` without the field.
    public internal(set) var city: String?
    public internal(set) var value: String?
    public internal(set) var time: String?
    /// Details of the problem that the reason does not give: a byte's position, or jq's words.
    public var problem: String?
    /// The server's own words: a message that is a text, or its `error`, `message` or `reason`.
    public internal(set) var serverWords: String?

    public init() {}
}

/// The kinds of messages and elements that gave no reading for one reason, with how many came of each.
public struct ExcerptCounts: Sendable, Equatable {
    /// Further kinds are not counted.
    private static let maximumKinds = 8

    private var kinds: [(excerpt: MessageExcerpt, count: UInt64)] = []

    /// The first of the kind that came most.
    public var mostFrequent: MessageExcerpt? { kinds.max { $0.count < $1.count }?.excerpt }

    mutating func count(_ excerpt: MessageExcerpt) {
        if let known = kinds.firstIndex(where: { $0.excerpt.kind == excerpt.kind }) {
            kinds[known].count += 1
        } else if kinds.count < Self.maximumKinds {
            kinds.append((excerpt, 1))
        }
    }

    public static func == (one: Self, other: Self) -> Bool {
        one.kinds.elementsEqual(other.kinds) { $0.excerpt == $1.excerpt && $0.count == $1.count }
    }
}
