import Bytes

/// The events of `/events`: which cities changed, and how they are now.
public enum CityEvents {
    /// One event with at most `maximum` of the cities that changed since a version of the store.
    ///
    /// - Parameters:
    ///   - position: 0 at first, then what the answer before gave.
    ///   - id: the event's, for a listener to go on from; nil when it cannot go on from here.
    /// - Returns: the event, nil when no city is left; and where to go on, nil when all have been looked at.
    public static func next(
        _ snapshot: StoreSnapshot, changedSince version: UInt64, position: Int, maximum: Int, id: (Bool) -> String?
    ) -> (event: [UInt8]?, position: Int?) {
        let (cities, position) = snapshot.cities(changedSince: version, from: position, maximum: maximum)
        guard !cities.isEmpty else { return (nil, position) }
        var text: [UInt8] = []
        text.reserveCapacity(64 + cities.count * 128)
        text.append("event: cities\n")
        if let id = id(position == nil) { text.append("id: \(id)\n") }
        text.append("data: {\"cities\":[")
        for (place, city) in cities.enumerated() {
            if place > 0 { text.append(UInt8(ascii: ",")) }
            append(snapshot.states[city], of: snapshot, to: &text)
        }
        text.append("]}\n\n")
        return (text, position)
    }

    private static func append(_ state: CityState, of snapshot: StoreSnapshot, to text: inout [UInt8]) {
        text.append("{\"city\":\"")
        text.appendJSONEscaped(state.name.span)
        text.append("\",\"aqi\":")
        text.appendDecimal(state.index)
        text.append(",\"category\":")
        text.appendInteger(UInt64(state.category))
        text.append(",\"direction\":\(state.changes.direction),\"updated_ms\":\(state.updatedAt),\"changed_ms\":")
        text.append(state.changes.changedAt.map { "\($0)}" } ?? "null}")
    }
}
