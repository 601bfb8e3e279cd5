/// Why a message or an element was refused: the values of the `reason` label, a closed set.
///
/// In the order in which they are looked for; an element is refused for the first one that applies.
public enum RefusalReason: String, Sendable, CaseIterable {
    // Whole messages.
    case tooLarge = "too_large"
    case notText = "not_text"
    case notJSON = "not_json"
    case notAnArray = "not_an_array"
    // Single elements.
    case notAnObject = "not_an_object"
    case noCity = "no_city"
    case badCity = "bad_city"
    case noValue = "no_value"
    case badValue = "bad_value"
    case badTime = "bad_time"
    case outOfRange = "out_of_range"
    case cityLimit = "city_limit"
}

/// A count for each reason.
public struct RefusalCounts: Sendable, Equatable {
    private var counts = [UInt64](repeating: 0, count: RefusalReason.allCases.count)

    public init() {}

    public subscript(reason: RefusalReason) -> UInt64 {
        get { counts[reason.position] }
        set { counts[reason.position] = newValue }
    }
}

extension CaseIterable where Self: Equatable {
    /// Where the case stands among all of them.
    var position: Int {
        var position = 0
        for other in Self.allCases {
            if other == self { return position }
            position += 1
        }
        return position
    }
}
